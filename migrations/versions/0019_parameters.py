"""Values that a site chose for rules."""

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"


def upgrade() -> None:
    op.create_table(
        "parameter",
        sa.Column("skill", sa.String, primary_key=True),
        sa.Column("name", sa.String, primary_key=True),
        sa.Column("scope_kind", sa.String, primary_key=True),
        sa.Column("scope_name", sa.String, primary_key=True),
        sa.Column("value", sa.String, nullable=False),
        sa.Column("by", sa.String, nullable=False),
        sa.Column("at", sa.Float, nullable=False),
    )


def downgrade() -> None:
    op.drop_table("parameter")

"""Changes that held on a host, and the hosts on which they did not."""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"


def upgrade() -> None:
    op.create_table(
        "fix",
        sa.Column("id", sa.String, primary_key=True),
        sa.Column("rule", sa.String, nullable=False),
        sa.Column("seen", sa.String, nullable=False),
        sa.Column("host", sa.String, nullable=False),
        sa.Column("played", sa.Boolean, nullable=False),
        sa.Column("simulated", sa.Boolean, nullable=False),
        sa.Column("at", sa.Float, nullable=False),
        sa.Column("body", sa.LargeBinary, nullable=False),
        sa.Column("offers", sa.Integer, nullable=False),
        sa.Column("held", sa.Integer, nullable=False),
    )
    op.create_index("fix_rule_seen", "fix", ["rule", "seen"])
    op.create_table(
        "fix_failure",
        sa.Column("fix", sa.String, primary_key=True),
        sa.Column("host", sa.String, primary_key=True),
        sa.Column("at", sa.Float, nullable=False),
        sa.Column("reason", sa.String, nullable=False),
    )


def downgrade() -> None:
    op.drop_table("fix_failure")
    op.drop_table("fix")

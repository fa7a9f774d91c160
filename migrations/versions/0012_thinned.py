"""Samples of engines and GPUs, thinned out for a year."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    op.create_table(
        "thinned",
        sa.Column("step", sa.Integer, primary_key=True),
        sa.Column("at", sa.Float, primary_key=True),
        sa.Column("body", sa.LargeBinary, nullable=False),
    )


def downgrade() -> None:
    op.drop_table("thinned")

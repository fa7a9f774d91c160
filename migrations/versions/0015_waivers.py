"""Waivers, and how many findings of a run they covered."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    op.add_column("run", sa.Column("waived", sa.Integer, nullable=False, server_default="0"))
    op.create_table(
        "waiver",
        sa.Column("id", sa.String, primary_key=True),
        sa.Column("rule", sa.String, nullable=False, index=True),
        sa.Column("scope_kind", sa.String, nullable=False),
        sa.Column("scope_name", sa.String, nullable=False),
        sa.Column("owner", sa.String, nullable=False),
        sa.Column("reason", sa.String, nullable=False),
        sa.Column("ticket", sa.String, nullable=False),
        sa.Column("until", sa.String, nullable=False),
        sa.Column("by", sa.String, nullable=False),
        sa.Column("made_at", sa.Float, nullable=False),
        sa.Column("ended_at", sa.Float, nullable=True),
        sa.Column("ended_by", sa.String, nullable=False),
        sa.Column("ended_why", sa.String, nullable=False),
    )


def downgrade() -> None:
    op.drop_table("waiver")
    op.drop_column("run", "waived")

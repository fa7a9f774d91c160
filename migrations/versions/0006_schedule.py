"""Schedules, and how much of a host had slipped when a run began."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    op.add_column("run", sa.Column("drifted", sa.Integer, nullable=False, server_default="0"))
    op.create_table(
        "schedule",
        sa.Column("id", sa.String, primary_key=True),
        sa.Column("host", sa.String, nullable=False, index=True),
        sa.Column("skill", sa.String, nullable=False),
        sa.Column("rules", sa.String, nullable=False),
        sa.Column("mode", sa.String, nullable=False),
        sa.Column("cron", sa.String, nullable=False),
        sa.Column("zone", sa.String, nullable=False),
        sa.Column("window_seconds", sa.Float, nullable=True),
        sa.Column("enabled", sa.Boolean, nullable=False),
        sa.Column("by", sa.String, nullable=False),
        sa.Column("made_at", sa.Float, nullable=False),
        sa.Column("next_at", sa.Float, nullable=False),
        sa.Column("fired_at", sa.Float, nullable=True),
        sa.Column("run", sa.String, nullable=False),
        sa.Column("outcome", sa.String, nullable=False),
    )


def downgrade() -> None:
    op.drop_table("schedule")
    op.drop_column("run", "drifted")

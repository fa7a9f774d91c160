"""Rollouts over many hosts, groups of hosts, and how each host stands, rule by rule."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    op.create_table(
        "rollout",
        sa.Column("id", sa.String, primary_key=True),
        sa.Column("words", sa.String, nullable=False),
        sa.Column("hosts", sa.Integer, nullable=False),
        sa.Column("state", sa.String, nullable=False, index=True),
        sa.Column("reason", sa.String, nullable=False),
        sa.Column("mode", sa.String, nullable=False),
        sa.Column("skill", sa.String, nullable=False),
        sa.Column("simulated", sa.Boolean, nullable=False),
        sa.Column("note", sa.String, nullable=False),
        sa.Column("by", sa.String, nullable=False),
        sa.Column("asked_at", sa.Float, nullable=False, index=True),
        sa.Column("ended_at", sa.Float),
    )
    op.create_table(
        "rollout_host",
        sa.Column("rollout", sa.String, primary_key=True),
        sa.Column("host", sa.String, primary_key=True),
        sa.Column("run", sa.String, nullable=False, index=True),
    )
    op.create_table(
        "host_group", sa.Column("name", sa.String, primary_key=True), sa.Column("host", sa.String, primary_key=True)
    )
    op.create_table(
        "standing",
        sa.Column("host", sa.String, primary_key=True),
        sa.Column("skill", sa.String, primary_key=True),
        sa.Column("run", sa.String, nullable=False),
        sa.Column("simulated", sa.Boolean, nullable=False),
        sa.Column("at", sa.Float, nullable=False),
        sa.Column("cells", sa.LargeBinary, nullable=False),
    )
    op.add_column("run", sa.Column("regressed", sa.Integer, nullable=False, server_default="0"))
    op.add_column("schedule", sa.Column("rollout", sa.String, nullable=False, server_default=""))


def downgrade() -> None:
    op.drop_column("schedule", "rollout")
    op.drop_column("run", "regressed")
    for table in ("standing", "host_group", "rollout_host", "rollout"):
        op.drop_table(table)

"""The first tables: events, samples, runs, lessons, commands, hosts."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "event",
        sa.Column("run", sa.String, primary_key=True),
        sa.Column("seq", sa.Integer, primary_key=True),
        sa.Column("at", sa.Float, nullable=False),
        sa.Column("kind", sa.String, nullable=False),
        sa.Column("line", sa.LargeBinary, nullable=False),
        sa.Column("hash", sa.String, nullable=False),
    )
    op.create_index("event_run_kind", "event", ["run", "kind", "seq"])
    op.create_table(
        "sample",
        sa.Column("seq", sa.Integer, primary_key=True),
        sa.Column("at", sa.Float, nullable=False, index=True),
        sa.Column("kind", sa.String, nullable=False),
        sa.Column("line", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "run",
        sa.Column("id", sa.String, primary_key=True),
        sa.Column("host", sa.String, nullable=False, index=True),
        sa.Column("state", sa.String, nullable=False, index=True),
        sa.Column("mode", sa.String, nullable=False),
        sa.Column("skill", sa.String, nullable=False),
        sa.Column("lineup", sa.String, nullable=False),
        sa.Column("simulated", sa.Boolean, nullable=False),
        sa.Column("note", sa.String, nullable=False),
        sa.Column("queued_at", sa.Float, nullable=False, index=True),
        sa.Column("started_at", sa.Float),
        sa.Column("ended_at", sa.Float),
        *(
            sa.Column(name, sa.Integer, nullable=False)
            for name in ("findings", "passed", "escalated", "skipped", "deferred", "rolled_back", "tokens")
        ),
        sa.Column("reason", sa.String, nullable=False),
    )
    op.create_table(
        "lesson",
        sa.Column("id", sa.String, primary_key=True),
        sa.Column("rule", sa.String, nullable=False, index=True),
        sa.Column("host", sa.String, nullable=False),
        sa.Column("run", sa.String, nullable=False),
        sa.Column("at", sa.Float, nullable=False),
        sa.Column("mechanism", sa.String, nullable=False),
        sa.Column("environment", sa.String, nullable=False),
        sa.Column("advice", sa.String, nullable=False),
        sa.Column("uses", sa.Integer, nullable=False),
        sa.Column("hits", sa.Integer, nullable=False),
    )
    op.create_table(
        "command",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("run", sa.String, nullable=False, index=True),
        sa.Column("verb", sa.String, nullable=False),
        sa.Column("by", sa.String, nullable=False),
        sa.Column("reason", sa.String, nullable=False),
        sa.Column("approval", sa.String, nullable=False),
        sa.Column("at", sa.Float, nullable=False),
        sa.Column("taken_at", sa.Float),
    )
    op.create_table(
        "host",
        sa.Column("name", sa.String, primary_key=True),
        sa.Column("kind", sa.String, nullable=False),
        sa.Column("title", sa.String, nullable=False),
        sa.Column("added_at", sa.Float, nullable=False),
    )


def downgrade() -> None:
    for table in ("host", "command", "lesson", "run", "sample", "event"):
        op.drop_table(table)

"""What the API keeps: keys of requests that were answered, and webhooks with how far each got in each run."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.create_table(
        "idempotency",
        sa.Column("key", sa.String, primary_key=True),
        sa.Column("digest", sa.String, nullable=False),
        sa.Column("run", sa.String, nullable=False),
        sa.Column("at", sa.Float, nullable=False, index=True),
    )
    op.create_table(
        "webhook",
        sa.Column("id", sa.String, primary_key=True),
        sa.Column("url", sa.String, nullable=False),
        sa.Column("secret", sa.String, nullable=False),
        sa.Column("kinds", sa.String, nullable=False),
        sa.Column("created_at", sa.Float, nullable=False),
        sa.Column("delivered", sa.Integer, nullable=False),
        sa.Column("dropped", sa.Integer, nullable=False),
        sa.Column("problem", sa.String, nullable=False),
    )
    op.create_table(
        "webhook_progress",
        sa.Column("webhook", sa.String, sa.ForeignKey("webhook.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("run", sa.String, primary_key=True),
        sa.Column("seq", sa.Integer, nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("due_at", sa.Float, nullable=False),
    )


def downgrade() -> None:
    for table in ("webhook_progress", "webhook", "idempotency"):
        op.drop_table(table)

"""Passwords that were tried, counted for all nodes that share a database."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    op.create_table(
        "attempt",
        sa.Column("key", sa.String, primary_key=True),
        sa.Column("tries", sa.Integer, nullable=False),
        sa.Column("since", sa.Float, nullable=False),
    )
    op.create_index("ix_attempt_since", "attempt", ["since"])


def downgrade() -> None:
    op.drop_table("attempt")

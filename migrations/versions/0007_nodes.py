"""The processes that share a database, and which run is whose."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    op.create_table(
        "node",
        sa.Column("name", sa.String, primary_key=True),
        sa.Column("kind", sa.String, nullable=False),
        sa.Column("machine", sa.String, nullable=False),
        sa.Column("pid", sa.Integer, nullable=False),
        sa.Column("began", sa.Float, nullable=False),
        sa.Column("started_at", sa.Float, nullable=False),
        sa.Column("seen_at", sa.Float, nullable=False),
        sa.Column("ended_at", sa.Float),
    )
    op.create_table(
        "lease",
        sa.Column("name", sa.String, primary_key=True),
        sa.Column("host", sa.String, nullable=False),
        sa.Column("node", sa.String, nullable=False, index=True),
        sa.Column("epoch", sa.Integer, nullable=False),
        sa.Column("asked_at", sa.Float, nullable=False),
    )


def downgrade() -> None:
    op.drop_table("lease")
    op.drop_table("node")

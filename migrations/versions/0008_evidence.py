"""The evidence that an old run has shrunk to."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    op.add_column("run", sa.Column("shrunk_at", sa.Float))
    op.create_table(
        "evidence",
        sa.Column("run", sa.String, primary_key=True),
        sa.Column("pack", sa.LargeBinary, nullable=False),
        sa.Column("swept", sa.Boolean, nullable=False),
    )


def downgrade() -> None:
    op.drop_table("evidence")
    op.drop_column("run", "shrunk_at")

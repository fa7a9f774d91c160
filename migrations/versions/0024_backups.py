"""The times of the backups, so that every node knows of the newest, whichever of them made it."""

import sqlalchemy as sa
from alembic import op

revision = "0024"
down_revision = "0023"


def upgrade() -> None:
    op.create_table(
        "backup", sa.Column("made_at", sa.Float, primary_key=True), sa.Column("by", sa.String, nullable=False)
    )


def downgrade() -> None:
    op.drop_table("backup")

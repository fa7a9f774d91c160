"""How far each node's own clock is from the database's, so that /ops names the one to set."""

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"


def upgrade() -> None:
    op.add_column("node", sa.Column("clock_off", sa.Float, nullable=False, server_default="0"))


def downgrade() -> None:
    op.drop_column("node", "clock_off")

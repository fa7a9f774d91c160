"""What a run waits for, if a fault of the machinery keeps it from going on."""

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"


def upgrade() -> None:
    op.add_column("run", sa.Column("waiting_for", sa.String, nullable=False, server_default=""))


def downgrade() -> None:
    op.drop_column("run", "waiting_for")

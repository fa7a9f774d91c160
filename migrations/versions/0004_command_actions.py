"""What a person makes of the Worker's actions."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.add_column("command", sa.Column("actions", sa.String, nullable=False, server_default=""))


def downgrade() -> None:
    op.drop_column("command", "actions")

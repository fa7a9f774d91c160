"""How whoever answers has come in: two people are told apart by that."""

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"


def upgrade() -> None:
    op.add_column("command", sa.Column("via", sa.String, nullable=False, server_default=""))


def downgrade() -> None:
    op.drop_column("command", "via")

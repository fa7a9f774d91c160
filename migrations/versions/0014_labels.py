"""What people call their runs, and how a webhook's body is put."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    op.add_column("run", sa.Column("name", sa.String, nullable=False, server_default=""))
    op.add_column("run", sa.Column("tags", sa.String, nullable=False, server_default=""))
    op.add_column("webhook", sa.Column("template", sa.String, nullable=False, server_default=""))


def downgrade() -> None:
    op.drop_column("webhook", "template")
    op.drop_column("run", "tags")
    op.drop_column("run", "name")

"""Which nodes a host did not answer, so that its run goes to one that it may answer."""

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"


def upgrade() -> None:
    op.add_column("lease", sa.Column("unreached", sa.String, nullable=False, server_default=""))


def downgrade() -> None:
    op.drop_column("lease", "unreached")

"""Which nodes a host did not answer, so that its run goes to one that it may; and the newest run of each host."""

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"


def upgrade() -> None:
    op.add_column("lease", sa.Column("unreached", sa.String, nullable=False, server_default=""))
    op.create_index("run_host_newest", "run", ["host", "queued_at", "started_at"])


def downgrade() -> None:
    op.drop_index("run_host_newest", "run")
    op.drop_column("lease", "unreached")

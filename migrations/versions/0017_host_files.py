"""What nodes keep of hosts lies in the database, so that they need no folder in common."""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"


def upgrade() -> None:
    op.create_table(
        "host_file",
        sa.Column("host", sa.String, primary_key=True),
        sa.Column("path", sa.String, primary_key=True),
        sa.Column("part", sa.Integer, primary_key=True),
        sa.Column("digest", sa.String, nullable=False),
        sa.Column("content", sa.LargeBinary, nullable=False),
    )
    op.add_column("lease", sa.Column("claim", sa.BigInteger, nullable=False, server_default="0"))
    op.add_column("lease", sa.Column("place", sa.String, nullable=False, server_default=""))
    op.add_column("node", sa.Column("place", sa.String, nullable=False, server_default=""))


def downgrade() -> None:
    op.drop_column("node", "place")
    op.drop_column("lease", "place")
    op.drop_column("lease", "claim")
    op.drop_table("host_file")

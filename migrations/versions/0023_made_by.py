"""Who made a token for somebody else, and which token an answer was given with. Of older tokens that is unknown."""

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"


def upgrade() -> None:
    op.add_column("credential", sa.Column("made_by", sa.String, nullable=False, server_default=""))
    op.execute("update credential set made_by = '?' where kind = 'token'")
    op.add_column("command", sa.Column("token", sa.String, nullable=False, server_default=""))
    op.add_column("command", sa.Column("made_by", sa.String, nullable=False, server_default=""))


def downgrade() -> None:
    op.drop_column("command", "made_by")
    op.drop_column("command", "token")
    op.drop_column("credential", "made_by")

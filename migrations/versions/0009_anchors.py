"""How far the record of what people did has come, and what it has sealed; which webhooks may go where."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    op.create_table(
        "chain_end",
        sa.Column("chain", sa.String, primary_key=True),
        sa.Column("seq", sa.Integer, nullable=False),
        sa.Column("hash", sa.String, nullable=False),
    )
    op.execute(
        "insert into chain_end (chain, seq, hash) select run, seq, hash from event"
        " where run = 'audit' and seq = (select max(seq) from event where run = 'audit')"
    )
    op.create_table(
        "seal", sa.Column("of", sa.String, primary_key=True), sa.Column("digest", sa.String, primary_key=True)
    )
    op.add_column("webhook", sa.Column("local", sa.Boolean, nullable=False, server_default=sa.false()))


def downgrade() -> None:
    op.drop_column("webhook", "local")
    op.drop_table("seal")
    op.drop_table("chain_end")

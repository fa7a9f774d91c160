"""Two people are told apart by how they came in; and who ordered a run, and what its roles read, has columns."""

import json
import re

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"

_ON_BEHALF = re.compile(r"(?:schedule|rollout) \S+ of ")


def upgrade() -> None:
    op.add_column("command", sa.Column("via", sa.String, nullable=False, server_default=""))
    op.add_column("run", sa.Column("whose", sa.String, nullable=False, server_default=""))
    op.add_column("run", sa.Column("token", sa.String, nullable=False, server_default=""))
    op.add_column("run", sa.Column("tokens_in", sa.BigInteger, nullable=False, server_default="0"))
    _fill()


def _fill() -> None:
    """From the log, which has said both since the first version: a run at a time, by the index over its kinds."""
    event = sa.table("event", *map(sa.column, ("run", "seq", "kind", "line")))
    run = sa.table("run", *map(sa.column, ("id", "whose", "tokens_in")))
    database = op.get_bind()
    for (name,) in database.execute(sa.select(run.c.id)).all():
        lines = sa.select(event.c.line).where(event.c.run == name)
        first = database.execute(lines.where(event.c.kind == "run.queued")).scalar()
        turns = database.execute(lines.where(event.c.kind == "turn.finished")).scalars()
        read = sum(json.loads(bytes(line)).get("prompt_tokens", 0) for line in turns)
        by = json.loads(bytes(first)).get("by", "") if first else ""
        while said := _ON_BEHALF.match(by):
            by = by[said.end() :]
        database.execute(run.update().where(run.c.id == name).values(whose=by, tokens_in=read))


def downgrade() -> None:
    for table, name in (("run", "tokens_in"), ("run", "token"), ("run", "whose"), ("command", "via")):
        op.drop_column(table, name)

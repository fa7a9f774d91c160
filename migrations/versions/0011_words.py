"""What was read out of sentences and labels has columns; the table of hosts, which nothing wrote or read, goes."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"

_LINK, _SHOWN, _OIDC = "/runs/", ", ", "oidc$"


def upgrade() -> None:
    for name in ("unkept", "stopped"):
        op.add_column("schedule", sa.Column(name, sa.Boolean, nullable=False, server_default=sa.false()))
    for table, name in (("person", "identity"), ("credential", "run"), ("credential", "source")):
        op.add_column(table, sa.Column(name, sa.String, nullable=False, server_default=""))
    _fill()
    op.drop_table("host")


def _fill() -> None:
    schedule = sa.table("schedule", *map(sa.column, ("outcome", "unkept", "stopped")))
    said = schedule.c.outcome
    unkept = said.contains("missed since") | said.contains("Skipped at") | said.contains("Nothing at")
    op.execute(schedule.update().where(unkept).values(unkept=sa.true()))
    op.execute(schedule.update().where(said.endswith("window.")).values(stopped=sa.true()))
    person = sa.table("person", *map(sa.column, ("password", "identity")))
    theirs = person.c.password.startswith(_OIDC)
    op.execute(person.update().where(theirs).values(identity=sa.func.replace(person.c.password, _OIDC, "")))
    op.execute(person.update().where(theirs).values(password="", identity=sa.func.replace(person.c.identity, "$", "")))
    credential = sa.table("credential", *map(sa.column, ("kind", "label", "run", "source")))
    kind, label = credential.c.kind, credential.c.label
    links = (kind == "link") & label.startswith(_LINK)
    op.execute(credential.update().where(links).values(run=sa.func.replace(label, _LINK, "")))
    browsers = kind.in_(("session", "browser")) & ~label.contains(_SHOWN)
    op.execute(credential.update().where(browsers).values(source=label))


def downgrade() -> None:
    person = sa.table("person", *map(sa.column, ("password", "identity")))
    first, second = sa.func.substr(person.c.identity, 1, 32), sa.func.substr(person.c.identity, 33)
    back = sa.literal(_OIDC).concat(first).concat("$").concat(second)
    op.execute(person.update().where(person.c.identity != "").values(password=back))
    op.create_table(
        "host",
        sa.Column("name", sa.String, primary_key=True),
        sa.Column("kind", sa.String, nullable=False),
        sa.Column("title", sa.String, nullable=False),
        sa.Column("added_at", sa.Float, nullable=False),
    )
    for table, name in (
        ("schedule", "unkept"),
        ("schedule", "stopped"),
        ("person", "identity"),
        ("credential", "run"),
        ("credential", "source"),
    ):
        op.drop_column(table, name)

"""The rows of rollouts, as commands look them up."""

import pytest
from sqlmodel import Session

from app.store.db import open_and_migrate_database
from app.store.rollouts import RolloutRow, find_up_to_five_rollouts_by_id_prefix

ROLLOUT = {"words": "all", "hosts": 1, "state": "running", "reason": "", "mode": "auto", "skill": "stig", "note": ""}


@pytest.mark.parametrize(("prefix", "found"), [("a", ["ac2", "ab1"]), ("ac", ["ac2"]), ("b", []), ("%", [])])
def test_rollouts_are_found_by_how_their_ids_begin_newest_first(tmp_path, prefix, found):
    database = open_and_migrate_database(tmp_path / "t.sqlite")
    with Session(database) as session:
        for at, name in enumerate(("ab1", "ac2")):
            session.add(RolloutRow(id=name, simulated=True, by="ada", asked_at=float(at), **ROLLOUT))
        assert [row.id for row in find_up_to_five_rollouts_by_id_prefix(session, prefix)] == found
    database.dispose()

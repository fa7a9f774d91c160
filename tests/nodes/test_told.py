"""Who works on a shared database, as the terminal and Prometheus are told it."""

import re

import httpx
import pytest
from sqlmodel import Session

from app.cli.postgresql_copy_and_node_list import AT_WORK, NOBODY, print_nodes_and_get_exit_code_whether_any_works
from app.config import Settings
from app.store import nodes
from app.store.database_clock import database_time
from app.store.db import open_and_migrate_database
from app.store.nodes import NodeRow


@pytest.fixture
def settings(shared):
    return Settings(data=shared.data, database_url=shared.address)


def member(shared, name, kind, seen=0.0):
    with Session(shared.database) as session, session.begin():
        at = database_time(session)
        session.add(NodeRow(name=name, kind=kind, machine="m", pid=1, began=1, started_at=at, seen_at=at - seen))


def test_the_terminal_names_each_node_and_ends_by_whether_one_is_at_work(shared, settings, capsys):
    assert print_nodes_and_get_exit_code_whether_any_works(settings) == NOBODY
    assert "no node works" in capsys.readouterr().out
    member(shared, "gone-1", "worker", seen=60)
    assert print_nodes_and_get_exit_code_whether_any_works(settings) == NOBODY
    assert re.search(r"gone-1 +worker +6\d +— +—", capsys.readouterr().out)
    member(shared, "here-1", "serve")
    with Session(shared.database) as session, session.begin():
        assert nodes.claim_leadership_getting_term_or_zero(session, "here-1", {"gone-1", "here-1"})
    assert print_nodes_and_get_exit_code_whether_any_works(settings) == AT_WORK
    said = capsys.readouterr().out
    assert re.search(r"here-1 +serve +0 +schedules, webhooks", said)
    assert len(re.findall("webhooks", said)) == 1


def test_a_file_has_no_nodes(tmp_path, capsys):
    open_and_migrate_database(tmp_path / "temper.sqlite").dispose()
    assert print_nodes_and_get_exit_code_whether_any_works(Settings(data=tmp_path, database_url="")) == AT_WORK
    assert "temper.sqlite is a file" in capsys.readouterr().out.replace("\n", "")


@pytest.mark.timeout(120)
def test_metrics_count_the_nodes_by_kind_and_time_each_ones_silence(shared):
    with shared.node("--port", "0", command="serve") as serving:
        member(shared, "quiet-1", "worker", seen=2)
        with httpx.Client(base_url=serving.said[0].split()[-1], timeout=60) as client:
            told = client.get("/metrics").text
    assert 'temper_nodes{kind="serve"} 1.0' in told
    assert 'temper_nodes{kind="worker"} 1.0' in told
    assert 'temper_nodes{kind="run"} 0.0' in told
    [silent] = re.findall(r'temper_node_silent_seconds\{node="quiet-1"\} (\S+)', told)
    assert 2 <= float(silent) < nodes.DEAD_AFTER + 1
    assert len(re.findall(r"^temper_node_silent_seconds\{", told, re.MULTILINE)) == 2
    assert 'temper_node_clock_off_seconds{node="quiet-1"} 0.0' in told

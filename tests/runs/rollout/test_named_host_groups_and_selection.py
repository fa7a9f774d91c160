"""Hosts as a person names them."""

import pytest
from sqlmodel import Session

from app.errors import Rejected
from app.runs.rollout.named_host_groups_and_selection import drop_group, save_group, select_hosts
from app.store.db import open_and_migrate_database
from app.store.host_groups import read_groups
from app.targets import host_registry
from app.targets.ssh.endpoint import parse_endpoint


@pytest.fixture
def folder(tmp_path):
    hosts = tmp_path / "hosts"
    for name in ("web1", "web2", "db1"):
        host_registry.register_host(hosts, name, parse_endpoint("root@127.0.0.1", "agent"), "key", "SHA256:x")
    return hosts


@pytest.mark.parametrize(
    ("words", "hosts"),
    [
        ("all", ("db1", "web1", "web2")),
        ("web*", ("web1", "web2")),
        ("db1, web2,db1", ("db1", "web2")),
        ("front,db?", ("web2", "web1", "db1")),
        ("fixture-3,web1", ("fixture-3", "web1")),
    ],
)
def test_by_name_by_pattern_by_group_or_all(folder, words, hosts):
    assert select_hosts(words, folder, {"front": ("web2", "web1")}) == hosts


def test_where_none_was_added_all_are_the_built_in_ones(tmp_path):
    assert select_hosts("all", tmp_path, {}) == ("fixture",)


@pytest.mark.parametrize("words", ["", " , ", "web9", "mail*", "../web1", "x" * 5000])
def test_a_word_that_means_nothing_is_refused(folder, words):
    with pytest.raises(Rejected) as said:
        select_hosts(words, folder, {})
    assert said.value.field == "hosts"


def test_a_group_takes_what_its_words_name_now_and_no_name_that_means_something_else(folder, tmp_path):
    database = open_and_migrate_database(tmp_path / "temper.sqlite")
    with Session(database) as session, session.begin():
        assert save_group(session, "front", ["web*"], folder) == ("web1", "web2")
        assert save_group(session, "both", ["front", "db1"], folder) == ("web1", "web2", "db1")
        save_group(session, "front", ["web2"], folder)
        assert read_groups(session) == {"both": ("db1", "web1", "web2"), "front": ("web2",)}
        for name in ("web1", "fixture", "all", "Big", "a b", ""):
            with pytest.raises(Rejected):
                save_group(session, name, ["web1"], folder)
        drop_group(session, "front")
        assert list(read_groups(session)) == ["both"]
        with pytest.raises(Rejected):
            drop_group(session, "front")
    database.dispose()

"""`temper host`, on a real sshd: known, looked at, worked on from elsewhere, forgotten."""

import getpass
import os
import re
import subprocess
import sys

import pytest

from app.cli.host import NewHost, add_host, check_host, list_hosts, remove_host
from app.config import Settings
from app.errors import BadInput, EnvironmentUnusable
from app.events.event_field_types import SetOption
from app.store.db import open_and_migrate_database
from app.store.host_folder_contents_in_database import HostFolders
from app.targets import host_registry
from app.targets.host_registry import open_target
from app.targets.rebooter_protocol import RollbackResult
from tests.postgres import new_database
from tests.targets.ssh.conftest import host

__all__ = ["host"]

SSHD = "/etc/ssh/sshd_config"


def test_a_host_from_its_first_key_to_being_forgotten(host, tmp_path, capsys):
    settings = Settings(data=tmp_path / "data")
    right = host.host_key.get_fingerprint()

    def new(**changed):
        place = f"{getpass.getuser()}@127.0.0.1:{host.port}"
        told = {"key": host.key, "agent": False, "password_from": "", "known_hosts": None, "accept_key": right}
        return NewHost(**{"name": "web", "place": place, **told, **changed})

    for wrong, says in (
        ({"accept_key": "SHA256:other"}, f"shows the host key {right}, not SHA256:other"),
        ({"key": None}, "exactly one way"),
        ({"agent": True}, "exactly one way"),
        ({"name": "fixture"}, "cannot be a host's name"),
        ({"place": "127.0.0.1"}, "is not a login"),
    ):
        with pytest.raises(BadInput, match=re.escape(says)):
            add_host(settings, new(**wrong))
    host.enters(uid=1000, sudo=False)
    with pytest.raises(EnvironmentUnusable, match="may not use sudo"):
        add_host(settings, new())
    host.enters()
    add_host(settings, new())
    list_hosts(settings)
    assert right in capsys.readouterr().out
    before = host.everything()
    assert (check_host(settings, "web", roll_back_open_changes=False), host.everything()) == (
        2,
        before,
    )  # this host has no inbox
    assert "ok    agent-login" in capsys.readouterr().out
    _left_open(settings)
    assert check_host(settings, "web", roll_back_open_changes=False) == 2
    assert "the change left is open" in capsys.readouterr().out
    with pytest.raises(BadInput, match="the change left is open"):
        remove_host(settings, "web")
    check_host(settings, "web", roll_back_open_changes=True)
    assert "left: rolled back to the state before" in capsys.readouterr().out
    assert host.everything() == before
    remove_host(settings, "web", clean_up=True)
    assert "web: removed /var/lib/temper\nweb: no file of Temper is left on it" in capsys.readouterr().out
    assert not (host.root / "var/lib/temper").exists()
    list_hosts(settings)
    assert "web" not in capsys.readouterr().out.splitlines()[-1]


def test_a_host_that_another_node_added_can_be_put_in_a_group(host, tmp_path, postgres_server):
    shared, here = new_database(postgres_server), tmp_path / "here"
    host_registry.register_host(here, "web", host.endpoint(), host.known_host, "SHA256:x")
    database = open_and_migrate_database(shared)
    HostFolders(database, here).store_registration("web")
    database.dispose()
    line = [sys.executable, "-m", "app", "host", "group", "front", "w*", "--data", str(tmp_path / "there")]
    env = {**os.environ, "TEMPER_DATABASE_URL": shared}
    assert subprocess.run(line, env=env, check=True, capture_output=True, text=True).stdout == "front: web\n"


def _left_open(settings):
    target = open_target("web", settings.hosts_folder)
    target.prepare()
    target.apply("left", [SetOption(path=SSHD, key="X11Forwarding", value="no")], frozenset({SSHD}))
    target.close()


class SteeringTarget:
    """A host that puts control sequences into all that it says."""

    def list_pending(self):
        return ["left\x1b[2J"]

    def roll_back(self, _journal):
        return RollbackResult((), ("/etc/x\x1b]0;owned\x07: it is gone", "y\n  ok   all"), 0.1)

    def check_health(self):
        return ()

    def close(self):
        pass


def test_what_a_rollback_could_not_put_back_does_not_steer_the_terminal(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("app.cli.host.open_target", lambda *_: SteeringTarget())
    check_host(Settings(data=tmp_path), "web", roll_back_open_changes=True)
    assert capsys.readouterr().out == "left: /etc/x: it is gone; y ok all\n"

"""What a login reads as itself."""

import pytest

from app.loop.harm import describe_harm
from app.syntax.files import FileState
from app.targets.health_probes import run_health_probes
from tests.targets.hosts import TODAY, host

OPEN, CLOSED = FileState(b"umask 077\n", 0o644, "root:root"), FileState(b"umask 077\n", 0o600, "root:root")


def asked(changes):
    return [probe for probe in run_health_probes(host(changes), TODAY) if probe.name == "login-shells"]


@pytest.mark.parametrize("path", ["/etc/bash.bashrc", "/etc/bashrc", "/etc/profile", "/etc/login.defs"])
def test_what_a_login_needs_is_open_to_all_who_log_in(path):
    (found,) = asked({path: CLOSED})
    assert not found.ok
    assert path in found.detail
    assert describe_harm(asked({path: OPEN}), [found]) == f"login-shells: {found.detail}"


def test_a_folder_on_the_way_counts():
    assert not asked({"/etc/profile": OPEN, "/etc": FileState(b"", 0o700, "root:root")})[0].ok


def test_what_a_shell_leaves_out_may_be_closed_but_not_become_so():
    path = "/etc/profile.d/site.sh"
    assert asked({path: CLOSED})[0].ok
    assert describe_harm(asked({path: CLOSED}), asked({path: CLOSED})) is None
    assert describe_harm(asked({path: CLOSED}), asked({path: OPEN})) is None
    assert describe_harm(asked({path: OPEN}), asked({path: CLOSED})).startswith(
        "login-shells: new: /etc/profile.d/site.sh"
    )
    assert describe_harm(asked({}), asked({path: OPEN})) is None

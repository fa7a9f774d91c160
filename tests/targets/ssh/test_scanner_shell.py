"""A scanner's command over SSH: only a time limit is a result without a code."""

import pytest

from app.errors import EnvironmentUnusable
from app.targets.ssh.connection import SshConnection
from app.targets.ssh.scanner_shell import RemoteShell


@pytest.fixture
def line(host, tmp_path):
    (tmp_path / "known_hosts").write_text(host.known_host)
    talking = SshConnection(host.endpoint(), tmp_path / "known_hosts")
    yield talking
    talking.close()


async def test_a_command_that_is_out_of_time_has_no_code(line):
    assert (await RemoteShell(line).run(["sleep", "60"], 0.5)).code is None


async def test_a_host_whose_sudo_no_longer_works_is_not_taken_for_a_slow_command(host, line):
    host.enters(uid=1000, sudo=False)
    with pytest.raises(EnvironmentUnusable, match=r"may not use sudo without a password .*allow it there"):
        await RemoteShell(line).run(["true"], 9)

"""On a real Debian: its own programs judge files that are not written yet, and nothing of it is left."""

import pytest

from app.syntax.host_files_protocol import FileState
from app.targets.effects.daemon_base import Query
from app.targets.overlay import Overlay
from app.targets.ssh.remote_programs_on_planned_files import create_remote_asker
from tests.hosts.conftest import inside

pytestmark = [pytest.mark.real_host, pytest.mark.timeout(600)]

SSHD, DROP_IN = "/etc/ssh/sshd_config", "/etc/ssh/sshd_config.d/10-temper.conf"
STAGED = (SSHD, "/etc/ssh/sshd_config.d/*")
SAYS = Query("/usr/sbin/sshd", ("-T", "-f", SSHD), STAGED)


@pytest.fixture
def ask(opened):
    return create_remote_asker(opened.line, opened.files)


def test_the_hosts_own_sshd_reads_what_is_planned(opened, machine, ask):
    was = inside(machine, "find /etc /var/lib -type f -newer /etc/hostname | sort; sshd -T")
    now = ask(opened.files, SAYS)
    assert (now.code, "\nx11forwarding yes\n" in now.output) == (0, True), now
    planned = Overlay(opened.files, {DROP_IN: FileState(b"X11Forwarding no\n", 0o600, "root:root")})
    then = ask(planned, SAYS)
    assert (then.code, "\nx11forwarding no\n" in then.output) == (0, True), then
    assert set(now.output.splitlines()) ^ set(then.output.splitlines()) == {"x11forwarding yes", "x11forwarding no"}
    broken = ask(Overlay(opened.files, {SSHD: FileState(b"Nonsense yes\n", 0o600, "root:root")}), SAYS)
    assert broken.code == 255
    assert "Nonsense" in broken.output
    assert inside(machine, "find /etc /var/lib -type f -newer /etc/hostname | sort; sshd -T") == was
    assert "ask." not in inside(machine, "ls /var/lib/temper; mount")


def test_what_is_made_for_the_question_is_there_and_gone(opened, machine, ask):
    read = Query("/usr/bin/cat", ("/made/for/it",), (), made=(("/made/for/it", "one\n"),))
    assert ask(opened.files, read).output == "one\n"
    assert "No such file" in inside(machine, "ls /made 2>&1 || true")


@pytest.mark.parametrize("at", ["/usr/bin/mark", "/var/lib/mark", "/run/mark", "/dev/shm/mark"])
def test_who_is_asked_can_write_nowhere_on_the_host(opened, machine, ask, at):
    assert ask(opened.files, Query("/usr/bin/touch", (at,), ())).code != 0
    assert ask(opened.files, Query("/usr/bin/touch", ("/etc/mark",), ())).code is not None
    assert inside(machine, f"ls {at} /etc/mark 2>/dev/null | wc -l") == "0"


def test_a_program_that_is_not_there_is_nobodys_answer(opened, ask):
    assert ask(opened.files, Query("/usr/sbin/no-such-program", (), ())) is None


def test_the_program_is_not_pid_1_whose_words_would_go_to_a_journal(opened, ask):
    said = ask(opened.files, Query("/bin/sh", ("-c", "echo $$; kill -SEGV $$"), ()))
    assert (said.output.strip() == "1", said.code) == (False, 139)

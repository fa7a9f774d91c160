"""One shell runs one script after another, and none of them meets what another left."""

import os
import signal
import threading
from contextlib import suppress

import pytest

from app.errors import ConnectionLost, EnvironmentUnusable
from app.targets.ssh.connection import SshConnection
from app.targets.ssh.host_shell import ScriptResult
from tests.targets.ssh.test_cut import until

WHICH = "readlink /proc/self/ns/user"
"""The host gives each login shell a user namespace of its own."""
SHELLS = """p=$$; all=
while [ "$(cat /proc/$p/comm)" != sshd ]; do all="$p $all"; p=$(sed -n 's/^PPid:.//p' /proc/$p/status); done
"""
"""`all`: the processes from the login to the script."""


@pytest.fixture
def line(host, tmp_path):
    (tmp_path / "known_hosts").write_text(host.known_host)
    one = SshConnection(host.endpoint(), tmp_path / "known_hosts")
    yield one
    one.close()


def test_only_a_newline_ends_a_line_of_what_the_host_reports():
    text = "log\t/var/log/auth.log\tfailed\u2028log\t/var/log/auth.log\tall is well\x85\x0c\x1e\n\nlog\ta\tb\n"
    rows = ScriptResult(0, text.encode(), "").report.rows
    assert rows == (("log", "/var/log/auth.log", text.split("\n", maxsplit=1)[0].split("\t", 2)[2]), ("log", "a", "b"))


def test_scripts_run_in_one_shell_and_share_no_variables(line):
    first = line.run_text(f"x=1; cd /etc; umask 0; {WHICH}").text
    assert line.run_text(WHICH).text == first
    assert line.run_text('echo "${x:-none} $PWD $#"', "one", "two words").text == "none / 2\n"


@pytest.mark.parametrize(
    "text", ["printf '\\000\\377a\\n\\nb'; printf oh >&2; exit 7", "printf 'temper-0 3\\n'; exit 3"]
)
def test_what_a_script_writes_is_taken_as_it_is(line, text):
    for _ in range(2):
        said = line.run_text(text)
        out, err = (b"\0\xffa\n\nb", "oh") if "oh" in text else (b"temper-0 3\n", "")
        assert (said.code, said.out, said.err) == (int(text[-1]), out, err)


def test_input_that_a_script_leaves_is_not_taken_for_the_next_script(line):
    data = b"exit 9\n" * 200_000
    assert line.run_text("head -c 3; exit 4", data=data).out == b"exi"
    assert line.run_text("wc -c", data=data).text.split() == [str(len(data))]
    assert line.run_text("cat").out == b""


def test_lines_are_handed_on_while_a_script_runs_and_the_mark_is_none_of_them(line):
    heard = []
    line.run_text("printf 'one\\ntwo\\nthree'", on_line=heard.append)
    assert heard == ["one", "two"]


def test_two_scripts_at_once_have_a_shell_each(line):
    found, begun = [], threading.Event()
    waiting = f"echo begun; until [ -e /var/log/go ]; do sleep 0.01; done; {WHICH}"

    def wait_there():
        found.append(line.run_text(waiting, on_line=lambda _: begun.set()).text.split()[1])

    thread = threading.Thread(target=wait_there)
    thread.start()
    assert begun.wait(20)
    found.append(line.run_text(f"{WHICH}; touch /var/log/go").text.strip())
    thread.join()
    assert len(set(found)) == 2


def test_a_shell_that_ended_is_replaced(line):
    first = line.run_text(WHICH).text
    for pid in line.run_text(f"{SHELLS} echo $all").text.split():
        with suppress(ProcessLookupError):  # those of the script have ended with it
            os.kill(int(pid), signal.SIGKILL)
    until(lambda: not line._idle.is_open)
    assert line.run_text(WHICH).text != first


def test_a_script_that_is_out_of_time_leaves_the_shell_as_it_was(line):
    with pytest.raises(EnvironmentUnusable, match=r"did not finish within 0\.05 s"):
        line.run_text("exec sleep 60", seconds=0.05)
    assert line.run_text("echo here").text == "here\n"


def test_a_shell_that_ends_in_mid_script_is_a_line_that_was_cut(line):
    with pytest.raises(ConnectionLost, match="was cut in mid-command"):
        line.run_text(f"{SHELLS} kill -9 $all")
    assert line.run_text("echo here").text == "here\n"

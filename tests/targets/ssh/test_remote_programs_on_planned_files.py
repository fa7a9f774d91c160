"""Who answers for a program, and what is sent to a host that is asked."""

import io
import tarfile

from app.syntax.host_files_protocol import FileState
from app.targets.effects.daemon_base import Query
from app.targets.overlay import Overlay
from app.targets.program_sandbox import ProgramOutcome
from app.targets.read_tracking_cache import ReadTrackingCache
from app.targets.ssh.host_shell import ScriptResult
from app.targets.ssh.remote_programs_on_planned_files import create_asker_keeping_first_answerer, create_remote_asker
from tests.targets.hosts import host as files

SSHD = "/etc/ssh/sshd_config"
ASKED = Query("/usr/sbin/sshd", ("-T",), (SSHD, "/etc/sudoers"), made=(("/key", "secret"),))


def test_whoever_answered_for_a_program_is_asked_again():
    one, two = [ProgramOutcome(0, "one"), None], [ProgramOutcome(0, "two")]
    ask = create_asker_keeping_first_answerer(lambda *_: one.pop(0), lambda *_: two.pop(0))
    assert [ask(files(), ASKED), ask(files(), ASKED)] == [ProgramOutcome(0, "one"), None]
    late = create_asker_keeping_first_answerer(lambda *_: None, lambda *_: two.pop(0))
    assert late(files(), ASKED) == ProgramOutcome(0, "two")
    assert create_asker_keeping_first_answerer(lambda *_: None)(files(), ASKED) is None


class Recorded:
    """A line whose host has one answer."""

    def __init__(self, answer):
        self.answer, self.sent = answer, []

    def run(self, *words, data, seconds):
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            self.sent.append((words, sorted(archive.getnames())))
        return self.answer


def test_only_what_differs_is_sent_and_what_cannot_be_had_is_no_answer():
    line = Recorded(ScriptResult(0, b"usepam yes\n", ""))
    ask = create_remote_asker(line, files())
    assert ask(files(), ASKED) == ProgramOutcome(0, "usepam yes\n")
    planned = Overlay(files(), {SSHD: FileState(b"UsePAM no\n", 0o600, "root:root")})
    ask(planned, ASKED)
    words = ("ask", "/usr/sbin/sshd", "-T")
    assert line.sent == [(words, ["key"]), (words, ["etc/ssh/sshd_config", "key"])]
    line.answer = ScriptResult(44, b"", "unshare is not installed there")
    assert create_remote_asker(line, files())(files(), ASKED) is None


def test_a_program_is_asked_once_about_the_same_files_and_again_after_other_changes_or_without_an_answer():
    line, known = Recorded(ScriptResult(44, b"", "busy")), ReadTrackingCache()
    ask = create_remote_asker(line, files(), known)
    planned = Overlay(files(), {SSHD: FileState(b"UsePAM no\n", 0o600, "root:root")})
    assert ask(planned, ASKED) is None
    line.answer = ScriptResult(0, b"usepam no\n", "")
    after = create_remote_asker(line, planned, known)
    answers = [ask(planned, ASKED), ask(planned, ASKED), after(planned, ASKED)]
    assert (answers, len(line.sent)) == ([ProgramOutcome(0, "usepam no\n")] * 3, 2)
    ask(Overlay(files(), {SSHD: FileState(b"UsePAM no\n", 0o644, "root:root")}), ASKED)
    known.forget()
    ask(planned, ASKED)
    assert len(line.sent) == 4

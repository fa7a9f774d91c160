"""What a host's files answer: only what a role may be shown, with what is secret taken out before anything is found."""

import pytest

from app.events.architect_questions_about_host import MOST_ANSWER, AskDaemon, AskFile, AskKernel, AskUnit, AskUse
from app.syntax.host_files_protocol import FileState
from app.targets.architect_answers_from_files import answer_from_files, clean_answer, explain_question_refusal
from app.targets.fixture.fixture_target import FixtureTarget
from tests.hostfiles import DictFiles

SSHD = "/etc/ssh/sshd_config"


def state(text, mode=0o644):
    return FileState(text.encode(), mode, "root:root")


FILES = DictFiles(
    {
        SSHD: state("# one\nPermitRootLogin yes\n\nMatch User kiosk\n PermitRootLogin no\n"),
        "/etc/dnf/dnf.conf": state("[main]\nproxy_password=CANARY\ngpgcheck=1\n"),
        "/etc/shadow": state("ana:$6$salt$CANARY:19000::::::\n", 0o600),
        "/etc/passwd": state("root:x:0:0::/root:/bin/sh\nkiosk:x:1001:1001::/home/kiosk:/bin/sh\n"),
        "/etc/group": state("root:x:0:\n"),
        "/etc/sysctl.d/99-site.conf": state("kernel.kptr_restrict = 2\n"),
        "/srv/app.conf": state("level CANARY\n"),
    }
)


def test_a_part_of_a_file_is_numbered_from_the_line_that_was_asked_for():
    assert answer_from_files(AskFile(path=SSHD, first=4), FILES, ()) == "4: Match User kiosk\n5:  PermitRootLogin no"
    assert answer_from_files(AskFile(path=SSHD, first=9), FILES, ()) == "it has 5 lines"
    assert answer_from_files(AskFile(path="/etc/issue"), FILES, ()) == "no such file"


def test_a_search_finds_a_word_in_files_that_may_be_shown_and_in_no_others():
    found = answer_from_files(AskUse(word="permitrootlogin"), FILES, ())
    assert found == f"{SSHD}\n  2: PermitRootLogin yes\n  5: PermitRootLogin no"
    assert answer_from_files(AskUse(word="level"), FILES, ()) == "nothing was found"
    assert answer_from_files(AskUse(word="level"), FILES, ("/srv/app.conf",)).startswith("/srv/app.conf\n")


def test_a_search_cannot_guess_at_what_is_secret():
    assert "proxy_password=[secret]" in answer_from_files(AskFile(path="/etc/dnf/dnf.conf"), FILES, ())
    assert answer_from_files(AskUse(word="CANARY"), FILES, ()) == "nothing was found"


@pytest.mark.parametrize(("user", "value"), [("root", "yes"), ("kiosk", "no")])
def test_a_daemon_is_read_for_the_account_that_is_asked_about(user, value):
    told = answer_from_files(AskDaemon(program="sshd", user=user, key="PermitRootLogin"), FILES, ())
    assert told == f"permitrootlogin {value}\n(by our reading of the files)"
    for program in ("sshd", "sudo"):
        asked = AskDaemon(program=program, user="eve", key="PermitRootLogin")
        assert answer_from_files(asked, FILES, ()) == "there is no account eve\n(by our reading of the files)"


def test_what_an_account_may_do_with_sudo_is_not_narrowed_by_a_setting():
    files = DictFiles(
        {"/etc/passwd": state("jo:x:1:1::/:/bin/sh\n"), "/etc/sudoers": state("jo ALL=(root) NOPASSWD: /bin/true\n")}
    )
    told = answer_from_files(AskDaemon(program="sudo", user="jo", key="env_reset"), files, ())
    assert "jo may run" in told


def test_what_nothing_runs_on_says_so(tmp_path):
    target = FixtureTarget("h", tmp_path)
    target.prepare()
    unit, key = target.answer_questions((AskUnit(unit="sshd.service"), AskKernel(key="kernel.kptr_restrict")), ())
    assert unit == "not known: this host is a tree of files, and nothing runs on it"
    assert key.endswith(unit)
    assert answer_from_files(AskKernel(key="kernel.kptr_restrict"), FILES, ()).startswith("the files set 2; ")


def test_what_may_not_be_shown_is_refused_and_an_absent_file_is_not():
    assert explain_question_refusal(AskFile(path="/etc/shadow"), FILES, ()).endswith("holds secrets and is not shown")
    assert explain_question_refusal(AskFile(path="/srv/app.conf"), FILES, ()).endswith("this rule has no need of it")
    assert explain_question_refusal(AskFile(path="/srv/app.conf"), FILES, ("/srv/app.conf",)) == ""
    assert explain_question_refusal(AskFile(path="/etc/issue"), FILES, ()) == ""


def test_an_answer_is_cut_cleaned_and_redacted():
    assert len(clean_answer("x\n" * 9000)) <= MOST_ANSWER
    assert clean_answer("a\x1b[2Jb password=CANARY") == "ab password=[secret]"
    assert clean_answer(" \n") == "nothing was found"

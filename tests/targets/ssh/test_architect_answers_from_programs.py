"""A real sshd and this machine's programs answer questions, in one call, and nothing on the host is changed."""

import pytest

from app.events.architect_questions_about_host import (
    AskDaemon,
    AskFile,
    AskKernel,
    AskManual,
    AskPackage,
    AskUnit,
    AskUse,
)
from app.targets.ssh.architect_answers_from_programs import ask_questions_programs_can_answer

USE = AskUse(word="PermitRootLogin")


def test_programs_answer_in_one_call_and_files_the_rest(opened, host):
    target = opened()
    target.prepare()
    calls, before = [], target.compute_digest()
    run = target.line.run
    target.line.run = lambda *words, **more: calls.append(words) or run(*words, **more)
    questions = (
        AskDaemon(program="sshd", user="root", key="permitrootlogin"),
        AskKernel(key="kernel.ostype"),
        AskPackage(package="no-such-package"),
        USE,
        AskFile(path="/etc/ssh/sshd_config"),
    )
    sshd, kernel, package, use, file = target.answer_questions(questions, ())
    assert [words[0] for words in calls] == ["inquire"]
    assert sshd == "permitrootlogin yes"
    assert kernel == "Linux"
    assert "no-such-package" in package
    assert use.startswith("/etc/ssh/sshd_config\n")
    assert "PermitRootLogin yes" in file
    assert target.compute_digest() == before


@pytest.mark.parametrize(
    "words",
    [
        ("unit", "-H root@other", "-"),
        ("package", "x;touch${IFS}/owned", "-"),
        ("manual", "--pager=sh", "x"),
        ("manual", "sshd_config", "x$(touch /owned)"),
        ("kernel", "net.ipv6.conf.all.stable_secret", "-"),
        ("rm", "/etc/passwd", "-"),
    ],
)
def test_the_script_itself_refuses_words_that_no_question_can_have(opened, host, words):
    target = opened()
    told = target.line.run("inquire", *words, "kernel", "kernel.ostype", "-").report.get_rows("answer")
    assert [row for row in told if row != ("1", "it is not shown")] == [("2", "Linux")]
    assert not (host.root / "owned").exists()


def test_without_a_question_for_programs_the_host_is_not_asked(opened):
    assert ask_questions_programs_can_answer(None, (USE,)) == {}


def test_a_unit_and_a_manual_page_are_asked_of_the_programs_that_are_there(opened):
    target = opened()
    questions = (AskUnit(unit="no-such-unit.service"), AskManual(page="no-such-page", section="NAME"))
    unit, manual = target.answer_questions(questions, ())
    assert unit
    assert manual == "nothing was found" or manual.startswith("not known: ")

"""What a real Debian answers to questions, by its own programs and its own files."""

import pytest

from app.events.architect_questions_about_host import AskDaemon, AskFile, AskKernel, AskPackage, AskUnit, AskUse

pytestmark = pytest.mark.real_host
QUESTIONS = (
    AskDaemon(program="sshd", user="temper", key="permitrootlogin"),
    AskDaemon(program="sudo", user="temper"),
    AskPackage(package="openssh-server"),
    AskKernel(key="kernel.randomize_va_space"),
    AskUnit(unit="ssh.service"),
    AskUse(word="PermitRootLogin"),
    AskFile(path="/etc/ssh/sshd_config"),
)


def test_its_programs_and_files_answer_and_nothing_is_changed(opened):
    opened.prepare()
    before = opened.compute_digest()
    sshd, sudo, package, kernel, unit, use, file = opened.answer_questions(QUESTIONS, ())
    assert sshd == "permitrootlogin without-password"
    assert "!authenticate" in sudo
    assert package.startswith("openssh-server 1:")
    assert "\n/etc/pam.d/sshd\n" in package
    assert kernel in ("0", "1", "2")
    assert unit == "not known: systemctl is not installed there"
    assert use.startswith("/etc/ssh/sshd_config\n  ")
    assert "1: " in file
    assert opened.compute_digest() == before

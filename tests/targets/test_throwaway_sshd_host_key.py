import subprocess

from app.targets import throwaway_sshd_host_key
from app.targets.throwaway_sshd_host_key import get_sshd_check_key


def test_a_key_is_made_once_and_is_a_private_one():
    assert get_sshd_check_key().startswith("-----BEGIN OPENSSH PRIVATE KEY-----")
    assert get_sshd_check_key() == get_sshd_check_key()


def test_a_program_that_was_too_slow_once_is_asked_again(monkeypatch):
    throwaway_sshd_host_key._make_sshd_check_key_text.cache_clear()
    with monkeypatch.context() as patch:

        def run_too_long(line, **_options):
            raise subprocess.TimeoutExpired(line, 10)

        patch.setattr(subprocess, "run", run_too_long)
        assert get_sshd_check_key() == ""
    assert get_sshd_check_key().startswith("-----BEGIN OPENSSH PRIVATE KEY-----")

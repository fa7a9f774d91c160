from app.targets.throwaway_sshd_host_key import get_sshd_check_key


def test_a_key_is_made_once_and_is_a_private_one():
    assert get_sshd_check_key().startswith("-----BEGIN OPENSSH PRIVATE KEY-----")
    assert get_sshd_check_key() == get_sshd_check_key()

from app.targets.throwaway_host_key import create_host_key


def test_a_key_is_made_once_and_is_a_private_one():
    assert create_host_key().startswith("-----BEGIN OPENSSH PRIVATE KEY-----")
    assert create_host_key() == create_host_key()

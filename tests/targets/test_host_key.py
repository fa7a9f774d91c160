from app.targets.host_key import host_key


def test_a_key_is_made_once_and_is_a_private_one():
    assert host_key().startswith("-----BEGIN OPENSSH PRIVATE KEY-----")
    assert host_key() == host_key()

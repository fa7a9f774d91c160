"""What only the host itself can tell of its health."""

import pytest


@pytest.mark.parametrize(
    ("line", "fine"),
    [
        ("auth required pam_unix.so nullok", True),
        ("auth required pam_nowhere.so", False),
        ("-auth optional pam_nowhere.so", True),
        ("# auth required pam_nowhere.so", True),
        ("auth [success=1 default=ignore] /lib/security/pam_nowhere.so", False),
    ],
)
def test_a_stack_that_names_what_is_not_installed_is_noticed(host, opened, line, fine):
    for stack in (host.root / "etc/pam.d").iterdir():
        stack.unlink()
    (host.root / "etc/pam.d/login").write_text(f"{line}\n")
    target = opened()
    target.prepare()
    [found] = [probe for probe in target.check_health() if probe.name == "pam-modules"]
    assert found.ok is fine
    assert ("pam_nowhere.so" in found.detail) is not fine


def test_passwords_that_the_host_cannot_try_are_read_and_count_as_not_asked(host, opened):
    """The host has a single user ID, so no throwaway account can be somebody else."""
    target = opened()
    target.prepare()
    was = sorted(path for path in (host.root / "etc").rglob("*"))
    [found] = [probe for probe in target.check_health() if probe.name == "password-change"]
    assert found.asked is False
    assert found.ok
    assert found.detail.startswith("not asked: ")
    assert "; simulated: root sets a password; " in found.detail
    assert sorted(path for path in (host.root / "etc").rglob("*")) == was
    (host.root / "etc/pam.d/system-auth").write_text("password requisite pam_deny.so\n")
    [found] = [probe for probe in target.check_health() if probe.name == "password-change"]
    assert (found.ok, found.asked) == (False, False)

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

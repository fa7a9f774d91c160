from types import SimpleNamespace

from app.loop.perform import sort_findings


def skill(**rules):
    return SimpleNamespace(rules={name: SimpleNamespace(depends=(), irreversible=end) for name, end in rules.items()})


def test_what_brings_a_package_comes_first_and_what_cannot_be_undone_last():
    rules = skill(lock=True, pam_minlen=False, package_pam_pwquality_installed=False, package_telnet_removed=False)
    assert sort_findings(tuple(rules.rules), rules) == (
        "package_pam_pwquality_installed",
        "pam_minlen",
        "package_telnet_removed",
        "lock",
    )

from types import SimpleNamespace

from app.loop.perform import sort_findings_dependencies_first


def skill(*, titles=(), **rules):
    named = dict(titles)
    return SimpleNamespace(
        rules={
            name: SimpleNamespace(id=name, title=named.get(name, ""), depends=(), irreversible=end)
            for name, end in rules.items()
        }
    )


def test_what_brings_a_package_comes_first_and_what_cannot_be_undone_last():
    names = ["pam_minlen", "aide_build_database", "package_pam_pwquality_installed", "package_telnet_removed"]
    rules = skill(lock=True, **dict.fromkeys(names, False))
    assert sort_findings_dependencies_first(tuple(rules.rules), rules) == (
        "package_pam_pwquality_installed",
        "pam_minlen",
        "package_telnet_removed",
        "aide_build_database",
        "lock",
    )


def test_a_title_tells_what_brings_a_package_too():
    titles = {
        "a": "The host must enable the entropy gatherer service.",
        "b": "The host must not have the telnet-server package installed.",
        "c": "The host must have the rng-tools package installed.",
        "d": "The opensc package must be installed.",
    }
    rules = skill(titles=titles.items(), **dict.fromkeys(titles, False))
    assert sort_findings_dependencies_first(tuple(titles), rules) == ("c", "d", "a", "b")

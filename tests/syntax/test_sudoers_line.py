import pytest

from app.syntax import sudoers_line


def granted(line):
    found = sudoers_line.parse_grants(line, "f", 1)
    return None if found is None else [(g.users, g.hosts, g.runas, sorted(g.tags), g.command) for g in found]


def test_a_plain_grant():
    assert granted("root\tALL=(ALL) \tALL") == [(("root",), ("ALL",), "ALL", [], "ALL")]


def test_tags_and_runas_hold_to_the_end_of_the_list():
    found = granted("bob ALL=(root) NOPASSWD: /bin/a, /bin/b -x, PASSWD: /bin/c, (mail) NOEXEC: /bin/d")
    assert [(runas, tags, command) for _, _, runas, tags, command in found] == [
        ("root", ["NOPASSWD"], "/bin/a"),
        ("root", ["NOPASSWD"], "/bin/b -x"),
        ("root", ["PASSWD"], "/bin/c"),
        ("mail", ["NOEXEC", "PASSWD"], "/bin/d"),
    ]


def test_tags_may_touch_and_pile_up():
    assert granted("bob ALL=(ALL)NOPASSWD:SETENV:ALL")[0][3] == ["NOPASSWD", "SETENV"]


def test_a_colon_parts_hosts():
    found = granted("%dev, alice web = /bin/a : db = NOPASSWD : /bin/b")
    assert [(users, hosts, tags) for users, hosts, _, tags, _ in found] == [
        (("%dev", "alice"), ("web",), []),
        (("%dev", "alice"), ("db",), ["NOPASSWD"]),
    ]


@pytest.mark.parametrize(
    "line",
    [
        "bob",
        "bob ALL",
        "bob ALL=",
        "bob ALL=(ALL)",
        "bob ALL=(ALL) nopasswd: ALL",
        "bob ALL=(ALL) all",
        "bob ALL=(ALL) /bin/a NOPASSWD: ALL",
        "= ALL",
        "bob ALL=(ALL ALL",
    ],
)
def test_what_sudo_cannot_read_is_none(line):
    assert granted(line) is None


@pytest.mark.parametrize(
    "line",
    [
        '"dom\\user name" ALL=(ALL:ALL) ALL',
        r"dom\\bob ALL = ALL",
        "%:group ALL=ALL",
        "#1000 ALL=ALL",
        "!bob,ALL ALL=ALL",
        r"bob ALL=/bin/a x\:y sudoedit",
    ],
)
def test_rarer_names_are_read(line):
    assert granted(line)


def test_defaults_have_a_scope_and_may_be_negated():
    found = sudoers_line.parse_defaults(
        'Defaults:bob, alice  !authenticate, env_keep += "A,B", ! lecture, !!requiretty', "f", 1
    )
    assert [(d.scope, d.name, d.negated, d.value) for d in found] == [
        (":bob, alice", "authenticate", True, ""),
        (":bob, alice", "env_keep", False, "A,B"),
        (":bob, alice", "lecture", True, ""),
        (":bob, alice", "requiretty", False, ""),
    ]
    assert sudoers_line.parse_defaults("Defaults   !visiblepw", "f", 1)[0].scope == ""


def test_aliases_have_members():
    found = sudoers_line.parse_aliases("User_Alias ADMINS = bob, %dev : OTHERS = eve")
    assert [(a.kind, a.name, a.members) for a in found] == [
        ("User", "ADMINS", ("bob", "%dev")),
        ("User", "OTHERS", ("eve",)),
    ]
    assert sudoers_line.parse_aliases("Cmnd_Alias lower = /bin/a") is None
    assert sudoers_line.parse_aliases("Cmd_Alias A = /bin/a")[0].kind == "Cmnd"


def test_only_ascii_blanks_part_a_line():
    for blank in ("\u2028", "\u00a0", "\x85", "\x1c"):
        assert granted(f"bob ALL=(ALL){blank}NOPASSWD: ALL") is None
        found = sudoers_line.parse_defaults(f"Defaults:b{blank}ob !authenticate", "f", 1)
        assert [(d.name, d.negated) for d in found] == [("authenticate", True)]


def test_a_hostile_line_is_refused_in_time():
    assert granted("a" + " " * 2000 + "," * 2000) is None
    assert granted("!" * 4000) is None

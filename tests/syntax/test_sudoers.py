from app.syntax.sudoers import read_sudoers
from tests.hostfiles import DictFiles


def read(main, **drops):
    return read_sudoers(
        DictFiles({"/etc/sudoers": main} | {f"/etc/sudoers.d/{name}": text for name, text in drops.items()})
    )


def test_both_spellings_of_an_include_are_followed():
    for line in (
        "#includedir /etc/sudoers.d",
        "@includedir /etc/sudoers.d",
        '@include "/etc/sudoers.d/a"',
        "#include sudoers.d/a",
    ):
        found = read(f"{line}\n", a="bob ALL=(ALL) ALL\n").grants
        assert [(g.users, g.path, g.line) for g in found] == [(("bob",), "/etc/sudoers.d/a", 1)], line


def test_sudo_leaves_out_names_with_a_dot_or_a_tilde():
    files = DictFiles(
        {
            "/etc/sudoers": "@includedir /etc/sudoers.d\n",
            "/etc/sudoers.d/a.rpmsave": "a ALL=ALL\n",
            "/etc/sudoers.d/b~": "b ALL=ALL\n",
            "/etc/sudoers.d/c": "c ALL=ALL\n",
        }
    )
    assert [g.users for g in read_sudoers(files).grants] == [("c",)]


def test_comments_go_and_user_ids_stay():
    found = read("# bob ALL=ALL\n#1000 ALL=ALL # NOPASSWD: ALL\n\t# x \\\nalice ALL=ALL\n")
    assert [g.users for g in found.grants] == [("#1000",), ("alice",)]
    assert found.problems == ()


def test_a_hash_in_quotes_opens_no_comment():
    assert read('Defaults passprompt="# %p", !authenticate\n').defaults[1].name == "authenticate"


def test_a_continued_line_is_one_line():
    found = read("bob ALL=(ALL) \\\n  NOPASSWD: \\\n  ALL\n").grants
    assert found[0].tags == {"NOPASSWD"}
    assert found[0].line == 1


def test_what_nobody_can_read_is_a_problem():
    found = read("bob ALL\nDefaults\nfrobnicate\n" + "x" * 5000 + "\n@include /etc/none\n")
    assert [(p.path, p.line) for p in found.problems][:4] == [("/etc/sudoers", n) for n in (1, 2, 3, 4)]
    assert found.problems[4].text == "/etc/none is absent"


def test_an_endless_include_ends():
    assert any("without an end" in p.text for p in read("@include /etc/sudoers\n@include /etc/sudoers\n").problems)


def test_who_is_meant_follows_aliases_groups_and_negation():
    found = read(
        "User_Alias ADMINS = %wheel, !eve\nADMINS ALL=(ALL) ALL\n"
        "bob ALL=/bin/a\nALL, !bob ALL=/bin/b\n%dev ALL=/bin/c\n"
    )
    assert [g.command for g in found.list_grants("bob", {"wheel"})] == ["ALL", "/bin/a"]
    assert [g.command for g in found.list_grants("eve", {"wheel", "dev"})] == ["/bin/b", "/bin/c"]
    assert [g.command for g in found.list_grants("kim", set())] == ["/bin/b"]


def test_windows_line_ends_are_taken_off():
    assert read("bob ALL=(ALL) NOPASSWD: ALL\r\n").grants[0].command == "ALL"

from app.syntax import sshd
from app.syntax.sshd import read_sshd_config
from tests.hostfiles import DictFiles

MAIN = "/etc/ssh/sshd_config"
DROP = "/etc/ssh/sshd_config.d/"


def config(main, **drops):
    return read_sshd_config(DictFiles({MAIN: main} | {f"{DROP}{name}.conf": text for name, text in drops.items()}))


def test_the_first_value_wins_whatever_its_letters():
    read = config("permitrootlogin no\nPermitRootLogin yes\n")
    found = read.get("PermitRootLogin")
    assert (found.value, found.path, found.line) == ("no", MAIN, 1)
    assert [s.value for s in read.list_global_settings("PERMITROOTLOGIN")] == ["no", "yes"]


def test_an_include_stands_where_it_is_written():
    include = f"Include {DROP}*.conf\n"
    above = config(include + "X11Forwarding no\n", a="X11Forwarding yes\n")
    below = config("X11Forwarding no\n" + include, a="X11Forwarding yes\n")
    assert above.get("X11Forwarding").path == f"{DROP}a.conf"
    assert below.get("X11Forwarding").path == MAIN


def test_includes_are_sorted_relative_and_may_name_several():
    read = config("Include sshd_config.d/b.conf sshd_config.d/*.conf\n", b="UsePAM yes\n", a="UsePAM no\n")
    assert read.get("UsePAM").value == "yes"
    assert [s.value for s in read.list_global_settings("UsePAM")] == ["yes", "no", "yes"]


def test_an_include_that_finds_nothing_is_no_problem():
    assert config(f"Include {DROP}*.conf\n").problems == ()


def test_what_follows_a_match_is_kept_apart():
    read = config("Match User bob\n  PermitRootLogin no\n\nMatch Group dev\n\tPermitRootLogin yes\n")
    assert read.get("PermitRootLogin") is None
    assert [(b.criteria, b.line, b.get("permitrootlogin").value) for b in read.matches] == [
        ("User bob", 1, "no"),
        ("Group dev", 4, "yes"),
    ]


def test_a_match_in_an_included_file_ends_with_it():
    read = config(f"Include {DROP}*.conf\nPermitRootLogin no\n", a="Match User bob\nPermitRootLogin yes\n")
    assert read.get("PermitRootLogin").value == "no"
    assert read.matches[0].get("PermitRootLogin").value == "yes"


def test_an_include_inside_a_match_belongs_to_it():
    read = config(
        f"Match User bob\nInclude {DROP}*.conf\nMatch all\n", a="X11Forwarding yes\nMatch Group dev\nX11Forwarding no\n"
    )
    assert read.get("X11Forwarding") is None
    assert [(b.criteria, [s.value for s in b.settings]) for b in read.matches] == [
        ("User bob", ["yes"]),
        ("User bob Group dev", ["no"]),
        ("all", []),
    ]


def test_problems_say_where_and_about_what():
    read = config('PermitRootLogin maybe\nBanner "open\nFrobnicate yes\nMatch User bob\nUsePAM yes\n')
    assert [(p.line, p.key) for p in read.problems] == [
        (1, "permitrootlogin"),
        (2, "banner"),
        (3, "frobnicate"),
        (5, "usepam"),
    ]


def test_a_keyword_without_a_value_sets_nothing():
    read = config("PermitRootLogin\nPermitRootLogin no\n")
    assert read.get("PermitRootLogin").line == 2
    assert [p.line for p in read.problems] == [1]


def test_an_absent_main_file_is_a_problem_of_the_structure():
    assert [p.key for p in read_sshd_config(DictFiles({})).problems] == [""]


def test_files_that_include_each_other_come_to_an_end():
    loop = f"Include {DROP}*.conf\n"
    read = config(loop, a=loop, b=loop, c=loop)
    assert any(p.key == "" and "without an end" in p.text for p in read.problems)


def test_windows_line_ends_are_taken_off():
    assert config("PermitRootLogin no\r\n").get("PermitRootLogin").value == "no"


def test_a_keyword_in_look_alike_letters_is_another_keyword():
    read = config("Clien\u0442AliveInterval 600\nClientAliveInterva\u04cf 600\n")
    assert read.get("ClientAliveInterval") is None
    assert len(read.problems) == 2


def test_the_first_line_of_a_keyword_counts():
    text = "# Ciphers none\nciphers a,b\nCiphers c\n"
    found = sshd.find_backend_setting(text, "Ciphers")
    assert (found.value, found.path, found.line) == ("a,b", sshd.BACKEND, 2)
    assert sshd.find_backend_setting(text, "MACs") is None

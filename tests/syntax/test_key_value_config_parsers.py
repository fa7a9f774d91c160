from app.syntax import key_value_config_parsers
from tests.hostfiles import DictFiles


def pairs(settings):
    return [(s.key, s.value) for s in settings]


def test_options_take_blanks_an_equals_sign_or_nothing():
    text = "minlen = 15\nminlen=14 # why\n\tdeny 3\neven_deny_root\n# minlen = 8\n#\n deny\t=\t4 \r\n"
    assert pairs(key_value_config_parsers.parse_options(text, "f")) == [
        ("minlen", "15"),
        ("minlen", "14"),
        ("deny", "3"),
        ("even_deny_root", ""),
        ("deny", "4"),
    ]


def test_a_second_equals_sign_belongs_to_the_value():
    assert pairs(key_value_config_parsers.parse_options("a==b\n", "f")) == [("a", "=b")]


def test_login_defs_have_no_comment_behind_a_value():
    text = 'UMASK\t\t077\nUMASK 022 # no\n#UMASK 027\nPASS_MAX_DAYS "60"\nALONE\nUMASK 077 \r\n'
    found = [("UMASK", "077"), ("UMASK", "022 # no"), ("PASS_MAX_DAYS", "60"), ("UMASK", "077")]
    assert pairs(key_value_config_parsers.parse_login_defs(text, "f")) == found


def test_auditd_wants_an_equals_sign_of_its_own():
    settings, problems = key_value_config_parsers.parse_auditd_with_problems(
        "Disk_Full_Action = HALT\nmax_log_file=8\n\tfreq = 5\n# a = b\n", "f"
    )
    assert pairs(settings) == [("disk_full_action", "HALT"), ("\tfreq", "5")]
    assert [(p.line, p.key) for p in problems] == [(2, "max_log_file")]


def test_several_files_are_read_in_order_and_an_absent_one_is_silent():
    files = DictFiles({"/a": "k = 1\n", "/b": "k = 2\n"})
    found = key_value_config_parsers.read_setting_files(
        files, ["/b", "/none", "/a"], key_value_config_parsers.parse_options
    )
    assert [(s.value, s.path, s.line) for s in found] == [("2", "/b", 1), ("1", "/a", 1)]


def read(text):
    return [(s.key, s.value) for s in key_value_config_parsers.parse_ini(text, "f")]


def test_keys_carry_their_section():
    assert read("[main]\ngpgcheck=1\n[other]\ngpgcheck = 0\n") == [("main.gpgcheck", "1"), ("other.gpgcheck", "0")]


def test_comments_and_lines_without_an_equals_sign_say_nothing():
    assert read("[main]\n#gpgcheck=1\n;gpgcheck=1\ngpgcheck\n") == []


def test_an_indented_line_continues_the_one_above():
    assert read("[main]\ngpgcheck=0\n  gpgcheck=1\n") == [("main.gpgcheck", "0 gpgcheck=1")]


def test_a_look_alike_section_is_another_section():
    assert read("[m\u0430in]\ngpgcheck=1\n") == [("m\u0430in.gpgcheck", "1")]


def test_windows_line_ends_are_taken_off():
    assert read("[main]\r\ngpgcheck=1\r\n") == [("main.gpgcheck", "1")]

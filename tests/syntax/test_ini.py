from app.syntax import ini


def read(text):
    return [(s.key, s.value) for s in ini.parse_ini(text, "f")]


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

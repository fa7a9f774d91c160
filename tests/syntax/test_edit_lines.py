from app.syntax import edit_lines


def test_a_line_is_replaced_and_others_dropped():
    assert edit_lines.replace_or_insert_line("a\nb\nc\nb\n", "B", 1, {3}, 0) == "a\nB\nc\n"


def test_a_line_is_added_where_told():
    assert edit_lines.replace_or_insert_line("a\nb\n", "x", None, (), 1) == "a\nx\nb\n"
    assert (
        edit_lines.replace_or_insert_line("a\nb\n", "x", None, (), edit_lines.get_index_after_all_lines("a\nb\n"))
        == "a\nb\nx\n"
    )
    assert edit_lines.replace_or_insert_line("", "x", None, (), edit_lines.get_index_after_all_lines("")) == "x\n"


def test_an_open_end_stays_open_unless_a_line_follows_it():
    assert edit_lines.replace_or_insert_line("a\nb", "A", 0, (), 0) == "A\nb"
    assert (
        edit_lines.replace_or_insert_line("a\nb", "x", None, (), edit_lines.get_index_after_all_lines("a\nb"))
        == "a\nb\nx\n"
    )


def test_the_place_below_a_commented_default():
    text = "# deny is what counts here\n# deny = 3\n#deny\n"
    assert edit_lines.find_index_below_commented_default(text, "deny", 3) == 2
    assert edit_lines.find_index_below_commented_default(text, "deny", 1) is None

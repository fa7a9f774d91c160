from app.web.pages.diff import parse_diff_rows

DIFF = "--- a/etc/x\n+++ b/etc/x\n@@ -1,2 +1,2 @@\n keep\n-old\n+new\n"


def shape(rows):
    return [(row.kind, row.sign, row.text) for row in rows]


def test_a_diff_reads_with_signs_and_the_files_name_once():
    assert shape(parse_diff_rows(DIFF)) == [
        ("file", " ", "/etc/x"),
        ("hunk", " ", "@@ -1,2 +1,2 @@"),
        ("same", " ", "keep"),
        ("removed", "−", "old"),
        ("added", "+", "new"),
    ]


def test_a_line_of_a_file_that_looks_like_a_header_is_shown_as_one_of_the_file():
    one = "diff a/{0} b/{0}\n--- a/{0}\n+++ b/{0}\n@@ -1 +1 @@\n--- a note\n+++ b/etc/other\n"
    changed = [("removed", "−", "-- a note"), ("added", "+", "++ b/etc/other")]
    assert shape(parse_diff_rows(one.format("x") + one.format("y"))) == [
        *(("file", " ", "/x"), ("hunk", " ", "@@ -1 +1 @@"), *changed),
        *(("file", " ", "/y"), ("hunk", " ", "@@ -1 +1 @@"), *changed),
    ]


def test_each_line_has_its_number_in_the_file_it_is_of():
    rows = parse_diff_rows("--- a/x\n+++ b/x\n@@ -7,3 +7,3 @@\n keep\n-old\n+new\n end\nresource user:ada\n+locked\n")
    assert [row.number for row in rows] == [None, None, 7, 8, 8, 9, None, None]
    assert [row.number for row in parse_diff_rows(DIFF, undone=True)] == [None, None, 1, 2, 2]


def test_lines_of_a_file_that_is_removed_or_new_have_their_numbers():
    assert [row.number for row in parse_diff_rows("@@ -1,2 +0,0 @@\n-a\n-b\n")] == [None, 1, 2]
    assert [row.number for row in parse_diff_rows("@@ -0,0 +1,2 @@\n+a\n+b\n")] == [None, 1, 2]


def test_an_undone_change_runs_backwards():
    assert shape(parse_diff_rows(DIFF, undone=True))[3:] == [("added", "+", "old"), ("removed", "−", "new")]


def test_equal_lines_are_marked_by_their_distance_from_the_change():
    lines = "".join(f" line {number}\n" for number in range(12))
    rows = parse_diff_rows(f"--- a/x\n+++ b/x\n@@ -1,25 +1,25 @@\n{lines}-old\n+new\n{lines}resource user:ada\n same\n")
    shown = [row.reach for row in rows if row.kind == "same"]
    above = ["far"] * 6 + ["near"] * 3 + [""] * 3
    assert shown == [*above, *above[::-1], ""], "where nothing changed, nothing is far from it"


def test_hostile_text_in_a_diff_is_cleaned():
    assert parse_diff_rows("+\x1b[2Jboo\u202e")[0].text == "boo"


def test_what_is_no_file_is_headed_by_its_name():
    rows = parse_diff_rows("resource package:aide\n-absent\n+installed 0.18\n")
    assert [(row.kind, row.text) for row in rows] == [
        ("file", "package:aide"),
        ("removed", "absent"),
        ("added", "installed 0.18"),
    ]


def test_a_vendors_script_is_shown_to_its_last_line():
    rows = parse_diff_rows("vendor's script r, sha256 0\n" + "| echo\n" * 900 + "resource vendor:r\n-absent\n+ran\n")
    assert [row.sign for row in rows].count("|") == 900
    assert rows[-1].text == "ran"

from app.text.diff_file_header_detection import mark_file_headers


def test_a_line_of_a_file_that_looks_like_a_header_is_none():
    one = ["diff a/x b/x", "--- a/x", "+++ b/x", "@@ -1 +1 @@", "--- a note", "+++ b/etc/other"]
    marked = mark_file_headers(one * 2)
    assert [is_header for _, is_header in marked] == [False, True, True, False, False, False] * 2

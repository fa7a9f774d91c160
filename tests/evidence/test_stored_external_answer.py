import pytest

from app.errors import EnvironmentUnusable
from app.evidence.stored_external_answer import read_or_fetch_once


def test_an_answer_is_asked_for_once(tmp_path):
    file = tmp_path / "new/folder/answer"
    assert read_or_fetch_once(file, "answer", None) is None
    assert read_or_fetch_once(file, "answer", lambda: b"first") == b"first"
    assert read_or_fetch_once(file, "answer", lambda: b"second") == b"first"
    assert [one.name for one in file.parent.iterdir()] == ["answer"]


def test_of_two_that_ask_at_the_same_time_both_have_what_was_kept_first(tmp_path):
    file = tmp_path / "answer"

    def ask():
        assert read_or_fetch_once(file, "answer", lambda: b"first") == b"first"
        return b"second"

    assert read_or_fetch_once(file, "answer", ask) == b"first"


@pytest.mark.parametrize(("place", "sentence"), [("a", "read"), ("a/b", "read"), ("c/b", "written")])
def test_a_file_that_cannot_be_read_or_written_is_said(tmp_path, place, sentence):
    (tmp_path / "a").mkdir()
    (tmp_path / "a/b").mkdir()
    (tmp_path / "c").symlink_to("/proc/none")
    with pytest.raises(EnvironmentUnusable, match=f"the receipt .* cannot be {sentence}"):
        read_or_fetch_once(tmp_path / place, "receipt", lambda: b"x")
    assert sorted(one.name for one in tmp_path.iterdir()) == ["a", "c"]

"""A question over files is worked out again only when something that it read is different."""

import pytest

from app.syntax.host_files_protocol import FileState
from app.targets.files_read_once_and_recorded import CachedFiles
from app.targets.overlay import Overlay
from app.targets.read_tracking_cache import ReadTrackingCache
from tests.hostfiles import DictFiles


class Asked:
    """Reads /etc/a, and /etc/b only where /etc/a says so."""

    def __init__(self):
        self.times = 0

    def __call__(self, files):
        self.times += 1
        first = files.read("/etc/a")
        return (first, files.read("/etc/b") if first == b"see b" else None, files.glob("/etc/*.conf"))


def state(content, mode=0o644):
    return FileState(content, mode, "root:root")


@pytest.fixture
def question():
    return Asked()


@pytest.fixture
def files():
    return DictFiles(
        {path: state(text) for path, text in (("/etc/a", b"one"), ("/etc/b", b"two"), ("/etc/x.conf", b""))}
    )


@pytest.mark.parametrize(
    ("path", "content", "again"),
    [
        ("/etc/a", b"other", True),
        ("/etc/new.conf", b"", True),
        ("/etc/b", b"nobody read it", False),
        ("/etc/a", b"one", False),
    ],
)
def test_it_is_worked_out_again_where_something_that_it_read_is_different(question, files, path, content, again):
    recall = ReadTrackingCache()
    recall.get_or_compute("q", files, question)
    after = Overlay(files, {path: state(content)})
    assert recall.get_or_compute("q", after, question) == Asked()(after)
    assert question.times == 1 + again


def test_what_a_change_and_its_rollback_come_to_is_remembered_beside_each_other(question, files):
    recall, after = ReadTrackingCache(), Overlay(files, {"/etc/a": state(b"see b")})
    before_it, after_it = recall.get_or_compute("q", files, question), recall.get_or_compute("q", after, question)
    assert (recall.get_or_compute("q", files, question), recall.get_or_compute("q", after, question)) == (
        before_it,
        after_it,
    )
    assert question.times == 2


def test_what_an_answer_within_it_was_made_of_counts_for_the_outer_one_too(question, files):
    recall = ReadTrackingCache()
    outer = []

    def whole(seen):
        outer.append(recall.get_or_compute("inner", seen, question))
        return outer[-1]

    recall.get_or_compute("inner", files, question)
    recall.get_or_compute("outer", files, whole)
    changed = Overlay(files, {"/etc/a": state(b"other")})
    assert recall.get_or_compute("outer", changed, whole) == Asked()(changed)
    assert len(outer) == 2


def test_nothing_is_read_that_the_question_would_not_have_read_anyway(question, files):
    recall = ReadTrackingCache()
    recall.get_or_compute("q", Overlay(files, {"/etc/a": state(b"see b")}), question)
    read = []

    class Noted(CachedFiles):
        def __init__(self):
            super().__init__(files)
            self.read = lambda path: (read.append(path), files.read(path))[1]

    recall.get_or_compute("q", Noted(), question)
    assert set(read) == {"/etc/a"}


def test_files_that_know_links_are_not_answered_for_by_those_that_do_not(files):
    class Linking(CachedFiles):
        link = staticmethod(lambda _path: "/dev/null")

    recall = ReadTrackingCache()
    assert recall.get_or_compute("q", CachedFiles(files), lambda seen: hasattr(seen, "link")) is False
    assert recall.get_or_compute("q", Linking(files), lambda seen: hasattr(seen, "link")) is True


def test_an_answer_that_does_not_last_is_asked_for_again(question, files):
    recall = ReadTrackingCache()
    for _ in range(2):
        recall.get_or_compute("q", files, question, is_cacheable=lambda _answer: False)
    assert question.times == 2

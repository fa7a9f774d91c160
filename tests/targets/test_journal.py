import stat

from app.syntax.host_files_protocol import FileState
from app.targets.crash_safe_writes import Disk
from app.targets.file_and_account_baseline import Baseline, BaselineEntry, SideEffects, apply_side_effects
from app.targets.journal import Journal

A, B, C = (FileState(text, 0o644, "root:root") for text in (b"a", b"b", b"c"))
ENTRY = BaselineEntry("file", 0o644, "root:root", 1, "d")


def changed(journal, name, before, made):
    (change,) = journal.begin(name, {"/etc/x": before}, {"/etc/x": made}, ())
    journal.close(name, "committed")
    return change


def test_what_a_later_package_made_of_a_file_overrides_what_was_said_of_it_and_is_overridden_in_turn(tmp_path):
    journal = Journal(tmp_path / "journal", Disk())
    first = changed(journal, "first", A, B)
    assert stat.S_IMODE((tmp_path / "journal").stat().st_mode) == 0o700
    assert journal.list_committed_file_changes() == [first]
    journal.begin("package", {"package:p": None}, {"package:p": C}, ())
    journal.write_side_effects("package", SideEffects({"/etc/x": ENTRY}, {"p": 998}))
    assert journal.list_open_side_effect_paths() == {"/etc/x"}
    assert journal.list_changed_resources() == {"package:p"}
    journal.close("package", "committed")
    assert (journal.list_committed_file_changes(), journal.list_open_side_effect_paths()) == ([], set())
    third = changed(journal, "third", C, A)
    assert journal.list_committed_file_changes() == [third]
    assert journal.list_committed_and_open_side_effects()[1].accounts == {"p": 998}


def test_what_is_known_to_have_come_of_a_change_counts_as_having_been_there():
    was = Baseline({"/etc/gone": ENTRY}, {"root": 0})
    now = apply_side_effects(was, [SideEffects({"/etc/gone": None, "/etc/new": ENTRY}, {"p": 998})])
    assert (now.entries, now.accounts) == ({"/etc/new": ENTRY}, {"root": 0, "p": 998})

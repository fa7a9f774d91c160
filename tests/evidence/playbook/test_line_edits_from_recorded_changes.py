import pytest
from msgspec.structs import replace

from app.events.event_field_types import (
    AppendLine,
    Chmod,
    FileChange,
    Reload,
    RemoveLine,
    ReplaceLine,
    SetOption,
    WriteFile,
)
from app.events.kinds import ActionApplied
from app.evidence.playbook.line_edits_from_recorded_changes import (
    NotRecorded,
    PlaybookEdit,
    apply_edit,
    derive_edits,
    fold_later_edits_unless_undone,
)
from app.syntax.host_files_protocol import FileState
from app.targets.change_diff import render_file_diffs
from app.targets.planned_file_states import compute_changed_file_states
from tests.hostfiles import DictFiles

SSHD, NEW, MOTD = "/etc/ssh/sshd_config", "/etc/profile.d/tmout.sh", "/etc/motd"
TEXT = """# sshd
PermitRootLogin yes
#X11Forwarding no
UseDNS no
UsePAM no
UsePAM no

Match User kiosk
  X11Forwarding yes
"""


def applied(actions, **files):
    """What the log keeps of a change; and the files as it left them."""
    before = {path: FileState(text.encode(), 0o644, "root:root") for path, text in files.items()}
    after = compute_changed_file_states(actions, DictFiles(files))
    changes = tuple(FileChange(path, "x" if path in before else None, "y") for path in after)
    diff = render_file_diffs({path: before.get(path) for path in after}, after)
    event = ActionApplied(rule="r", attempt=1, journal="j", diff=diff, changes=changes, seconds=0)
    return event, {path: state.content.decode() for path, state in after.items()}


@pytest.mark.parametrize(
    "actions",
    [
        [SetOption(path=SSHD, key="PermitRootLogin", value="no"), Reload(service="sshd")],
        [SetOption(path=SSHD, key="X11Forwarding", value="no")],
        [SetOption(path=SSHD, key="UsePAM", value="yes"), SetOption(path=SSHD, key="MaxAuthTries", value="3")],
        [SetOption(path="/etc/login.defs", key="UMASK", value="077")],
        [ReplaceLine(path=SSHD, old="UseDNS no", new="UseDNS yes")],
        [RemoveLine(path=SSHD, line="UsePAM no"), AppendLine(path=SSHD, line="# the end")],
        [WriteFile(path=NEW, content="TMOUT=600\n")],
        [WriteFile(path=SSHD, content="UsePAM yes\n"), AppendLine(path=SSHD, line="UseDNS no")],
        [AppendLine(path=MOTD, line="be warned"), Chmod(path=MOTD, mode="0600")],
    ],
    ids=lambda actions: " ".join(type(one).__name__ for one in actions),
)
def test_what_the_edits_make_of_the_old_files_is_what_the_run_made_of_them(actions):
    files = {SSHD: TEXT, "/etc/login.defs": "# defaults\nUMASK 022\n"}
    event, after = applied(actions, **files)
    texts = dict(files)
    for edit in derive_edits(actions, event):
        texts[edit.path] = apply_edit(texts.get(edit.path, ""), edit)
    assert {path: texts[path].replace("UsePAM yes\nUsePAM yes", "UsePAM yes") for path in after} == after


def test_what_the_record_does_not_hold_is_not_made_up():
    secret = SetOption(path=SSHD, key="Banner", value="$6$saltsalt$" + "aB3./xyZ" * 10 + "aB3./x")
    long = SetOption(path=SSHD, key="AllowUsers", value="x" * 450)
    for action in (secret, long):
        event, _ = applied([action], **{SSHD: TEXT})
        with pytest.raises(NotRecorded, match="not all on record"):
            derive_edits([action], event)


def test_a_diff_that_was_cut_is_not_taken_for_the_whole_change():
    longest = "".join(f"UsePAM no # {number}\n" for number in range(3000))
    action = SetOption(path=SSHD, key="UsePAM", value="yes")
    event, _ = applied([action], **{SSHD: longest})
    assert "more characters are not shown" in event.diff
    with pytest.raises(NotRecorded, match="not all on record"):
        derive_edits([action], event)
    before = SetOption(path="/etc/login.defs", key="UMASK", value="077")
    event, _ = applied([before, action], **{"/etc/login.defs": "UMASK 022\n", SSHD: longest})
    with pytest.raises(NotRecorded, match=f"what changed in {SSHD} is not all on record"):
        derive_edits([before, action], event)
    alone = replace(event, changes=event.changes[:1])
    assert [edit.new for edit in derive_edits([before], alone)] == ["UMASK 077"], "it ends before the cut"


def test_a_line_that_moves_is_left_to_people():
    rules = "/etc/audit/audit.rules"
    action = SetOption(path=rules, key="-e", value="2")
    event, _ = applied([action], **{rules: "-e 2\n-w /etc/shadow -p wa\n"})
    with pytest.raises(NotRecorded, match=r"changed its place|says where"):
        derive_edits([action], event)


def test_what_later_rules_made_of_a_line_counts_as_done():
    first = PlaybookEdit("replace", SSHD, "UseDNS no", "UseDNS yes")
    assert fold_later_edits_unless_undone(
        first, [PlaybookEdit("replace", SSHD, "UseDNS yes", "UseDNS  yes")]
    ).later == ("UseDNS  yes",)
    assert fold_later_edits_unless_undone(first, [PlaybookEdit("remove", SSHD, "UseDNS yes")]).passing
    assert fold_later_edits_unless_undone(first, [PlaybookEdit("remove", MOTD, "UseDNS yes")]) == first
    assert (
        fold_later_edits_unless_undone(
            PlaybookEdit("insert", SSHD, new="UseDNS no"), [PlaybookEdit("remove", SSHD, "UseDNS no")]
        )
        is None
    )
    assert (
        fold_later_edits_unless_undone(
            PlaybookEdit("remove", SSHD, "UseDNS no"), [PlaybookEdit("insert", SSHD, new="UseDNS no")]
        )
        is None
    )
    gone = PlaybookEdit("remove", SSHD, "UseDNS no")
    assert fold_later_edits_unless_undone(gone, [PlaybookEdit("write", SSHD, new="# all\nUseDNS no \n")]) is None
    assert fold_later_edits_unless_undone(gone, [PlaybookEdit("write", SSHD, new="UsePAM yes\n")]) == gone
    whole = fold_later_edits_unless_undone(
        PlaybookEdit("write", MOTD, new="a\n", mode="0644"),
        [PlaybookEdit("insert", MOTD, new="b"), PlaybookEdit("mode", MOTD, mode="0600")],
    )
    assert (whole.new, whole.mode) == ("a\nb\n", "0600")

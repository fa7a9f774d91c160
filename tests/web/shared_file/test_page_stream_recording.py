"""The frames of a file: put together again, they are the messages of the stream."""

import pytest

from app.events.kinds import TurnDelta
from app.lineups.reader import read_lineup, require_lineup_path
from app.skills.catalog import load_skill
from app.store.db import open_and_migrate_database
from app.store.events import EventStore
from app.web.pages.mission.mission import Mission
from app.web.pages.mission.mission_parts import Scene, render_mission_parts
from app.web.shared_file.page_stream_recording import build_line_patch, record_stream
from app.web.shared_file.shared_file_builder import StoredRuns


def apply_patch(before, patch):
    """As shared-frames.js does it."""
    return [line for one in patch for line in (one.split("\n") if isinstance(one, str) else before[slice(*one)])]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ([], [""]),
        (["a", "b", "c"], ["a", "c"]),
        (["a", "b"], ["a", "", "b"]),
        (["a", "b", "c", "d"], ["x", "b", "y", "", "d", "z"]),
        (["a"], []),
    ],
)
def test_a_patch_makes_the_new_lines_of_the_old_ones(before, after):
    assert apply_patch(before, build_line_patch(before, after)) == after


def test_what_stayed_is_not_said_again():
    assert build_line_patch(["a", "b", "c"], ["a", "new", "b", "c"]) == [[0, 1], "new", [1, 3]]


def test_at_their_end_all_parts_are_as_the_page_has_them_and_every_token_came(played, log):
    database = open_and_migrate_database(played[0] / "temper.sqlite")
    archive = StoredRuns(EventStore(database), read_lineup(require_lineup_path("simulated")))
    scene = Scene(archive.lineup, load_skill("stig"), "replay")
    recording = record_stream(archive, scene, log)
    assert [seq for _, seq, _ in recording.frames] == sorted({seq for _, seq, _ in recording.frames})
    assert recording.frames[-1][1] == log[-1].seq
    shown = {}
    for head, patches in recording.parts.items():
        lines = []
        for _, patch in patches:
            lines = apply_patch(lines, patch)
        shown[head] = "\n".join(lines)
    mission = Mission()
    for one in log:
        mission.apply_event(one)
    expected = {
        f'hx-target="#{name}" hx-swap="innerHTML"': html for name, html in render_mission_parts(mission, scene).items()
    }
    assert expected.items() <= shown.items()
    assert any("gpus" in head for head in shown)
    assert set(recording.events) <= {"token"}
    assert any(isinstance(one.event, TurnDelta) for one in log)
    database.dispose()

"""Records the messages of a run's stream for a file: with their time, and without what a part had before."""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher

from app.events.kinds import TurnDelta
from app.events.record import Recorded
from app.web.pages.engine_meters_and_gpu_cards import RunArchive, render_past_machine_parts
from app.web.pages.live_parts import wrap_partials
from app.web.pages.mission.mission_loader import MissionLoader
from app.web.pages.mission.mission_parts import Scene
from app.web.pages.mission.page_stream_renderer import PageRenderer
from app.web.pages.mission.replay_stream import split_frames
from app.web.pages.mission.timeline import fold_timeline
from app.web.stream.sse_messages import encode_message

FRAME_SECONDS = 0.05
MACHINE_SECONDS, MOST_MACHINE_FRAMES = 2.5, 200
"""Engines and GPUs are shown anew at this interval, or at a longer one in a long run."""
_PARTIAL = re.compile(r"<hx-partial ([^>]*)>(.*?)</hx-partial>", re.DOTALL)

Patch = list[str | list[int]]
"""The lines of a part: text that is new, and ranges [from, to] of the lines that the part had before."""


@dataclass
class Recording:
    """All messages of a stream. Those to one place stand together, because they compress to half of what they would
    in order of time."""

    frames: list[tuple[int, int, bool]] = field(default_factory=list)
    """Milliseconds on the axis of the timeline, seq, and whether the whole page was rendered."""
    events: dict[str, list[tuple[int, str]]] = field(default_factory=lambda: defaultdict(list))
    """Named messages: the frame and the data of each, by name."""
    parts: dict[str, list[tuple[int, Patch]]] = field(default_factory=lambda: defaultdict(list))
    """The frame and the patch of each, by the attributes that say where the part goes, and how."""
    _lines: dict[str, list[str]] = field(default_factory=dict)

    def add_frame(self, axis_ms_seq_and_is_whole: tuple[int, int, bool], content: bytes) -> None:
        for message in content.decode().split("\n\n"):
            self._add_message_as_events_or_line_patches(message)
        self.frames.append(axis_ms_seq_and_is_whole)

    def _add_message_as_events_or_line_patches(self, message: str) -> None:
        fields = [line.partition(": ")[::2] for line in message.split("\n")]
        data = "\n".join(text for name, text in fields if name == "data")
        if event := next((text for name, text in fields if name == "event"), ""):
            self.events[event].append((len(self.frames), data))
            return
        for head, html in _PARTIAL.findall(data):
            lines = html.split("\n")
            self.parts[head].append((len(self.frames), build_line_patch(self._lines.get(head, []), lines)))
            self._lines[head] = lines

    def to_object(self) -> dict[str, object]:
        return {"frames": self.frames, "events": self.events, "parts": self.parts}


def build_line_patch(before: Sequence[str], after: Sequence[str]) -> Patch:
    patch: Patch = []
    for tag, start, end, first, last in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag == "equal":
            patch.append([start, end])
        elif first < last:
            patch.append("\n".join(after[first:last]))
    return patch


def record_stream(archive: RunArchive, scene: Scene, log: Sequence[Recorded]) -> Recording:
    """Render a whole log as its stream does, once per event, with the cards of its machine."""
    began, screen, recording = log[0].at, PageRenderer(log[0].run, MissionLoader(archive.store), scene), Recording()
    step = max(MACHINE_SECONDS, (log[-1].at - began) / MOST_MACHINE_FRAMES)
    due, line = began, fold_timeline(log)
    for batch in split_frames(log, FRAME_SECONDS):
        content, at = screen(batch), batch[-1].at
        if at >= due:
            content += encode_message(wrap_partials(render_past_machine_parts(archive, at)).encode())
            due = at + step
        whole = any(not isinstance(one.event, TurnDelta) for one in batch)
        recording.add_frame((round(1000 * line.to_axis_seconds(at)), batch[-1].seq, whole), content)
    return recording

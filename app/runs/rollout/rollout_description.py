"""Describe rollout events in sentences for terminal and pages."""

from app.events import kinds
from app.events.kinds import Event
from app.loop.descriptions import EventDescription
from app.runs.rollout.rollout_state import HostPart

_GLYPHS = {"finished": "✓", "stopped": "■", "failed": "✗"}


def describe_rollout_event(event: Event) -> EventDescription | None:
    match event:
        case kinds.RolloutAsked():
            waves = " then ".join(map(str, event.waves))
            played = ", engines simulated" if event.simulated else ""
            order = f"Rollout over {_count_hosts(len(event.hosts))} ordered by {event.by}"
            mode = event.mode or "each in its default mode"
            return _describe_plainly("·", f"{order}: {waves}, at most {event.at_once} at once, {mode}{played}")
        case kinds.RolloutHostBegun():
            return _describe_plainly("▸", f"{event.host}: run {event.of} begins, wave {event.wave}")
        case kinds.RolloutHostEnded():
            return _describe_host_ended(event)
        case kinds.RolloutHostLeft():
            return EventDescription("–", "skipped", f"{event.host} is left out: {event.reason}")
        case kinds.RolloutWaveEnded():
            return _describe_plainly("▪", _describe_wave_ended(event))
        case kinds.RolloutPaused(by="rule"):
            text = f"Paused by its limits: {event.reason}. A person decides whether to resume it"
            return EventDescription("!", "alarm", text)
        case kinds.RolloutPaused():
            return _describe_plainly("‖", f"Paused by {event.by}{_format_reason(event.reason)}")
        case kinds.RolloutResumed():
            return _describe_plainly("▸", f"Resumed by {event.by}{_format_reason(event.reason)}")
        case kinds.RolloutStopRequested():
            return _describe_plainly("■", f"Stopped by {event.by}{_format_reason(event.reason)}")
        case kinds.RolloutEnded():
            return _describe_plainly("■", f"Rollout {event.state}")
        case _:
            return None


def describe_outcome(part: HostPart) -> str:
    """Return a host's outcome in a few words."""
    if part.left:
        return f"left: {part.left}"
    ended = part.ended
    if ended is None:
        return "at work" if part.run else f"waits for wave {part.wave}"
    if ended.harm:
        return f"harmed: {ended.harm}" if ended.state == "finished" else f"{ended.state}: {ended.harm}"
    return f"{ended.state}: {ended.passed} of {ended.findings} passed"


def _describe_host_ended(event: kinds.RolloutHostEnded) -> EventDescription:
    counts = f"{event.passed} of {event.findings} findings passed"
    if event.escalated:
        counts += f", {event.escalated} escalated"
    if event.rolled_back:
        counts += f", {event.rolled_back} changes rolled back"
    if event.harm:
        return EventDescription("!", "alarm", f"{event.host} ({event.of}) {event.state}: {event.harm}; {counts}")
    glyph = _GLYPHS.get(event.state, "·")
    style = "passed" if glyph == "✓" else "plain"
    return EventDescription(glyph, style, f"{event.host} ({event.of}) {event.state}: {counts}")


def _describe_wave_ended(event: kinds.RolloutWaveEnded) -> str:
    passed = f"{event.passed} of {event.findings} findings passed"
    counts = {"escalated": event.escalated, "harmed": event.harmed, "not begun": event.left}
    more = [f", {count} {what}" for what, count in counts.items() if count]
    return f"Wave {event.wave} has ended: {_count_hosts(event.hosts)}, {passed}{''.join(more)}"


def _describe_plainly(glyph: str, text: str) -> EventDescription:
    return EventDescription(glyph, "plain", text)


def _count_hosts(hosts: int) -> str:
    return "1 host" if hosts == 1 else f"{hosts} hosts"


def _format_reason(reason: str) -> str:
    return f": {reason}" if reason else ""

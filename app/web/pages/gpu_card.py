"""A GPU as a small card: memory, a minute of power history and other figures."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from app.events.kinds import GpuSampled
from app.machine.sampling.sample_board import POWER_SECONDS
from app.web.pages.templating import render_template


@dataclass(frozen=True)
class GpuCard:
    index: int
    name: str
    used: float | None
    total: float | None
    share: float
    utilization: float | None
    power: float | None
    temperature: float | None
    line: str
    """Power over the last minute, as points of a 60 × 12 picture."""
    simulated: bool
    host: str
    """Empty for this machine."""
    unified: bool
    throttled: tuple[str, ...]


def render_gpu_cards(
    newest: Sequence[GpuSampled], power: Mapping[tuple[str, int], Iterable[tuple[float, float]]], reason: str
) -> str:
    cards = [
        _build_gpu_card(event, power.get((event.host, event.gpu), ()))
        for event in sorted(newest, key=lambda event: (event.host, event.gpu))
    ]
    return render_template("partials/_gpus.html", cards=cards, reason=reason)


def _build_gpu_card(event: GpuSampled, drawn: Iterable[tuple[float, float]]) -> GpuCard:
    share = 100 * event.used_gib / event.total_gib if event.used_gib and event.total_gib else 0.0
    return GpuCard(
        index=event.gpu,
        name=event.name,
        used=event.used_gib,
        total=event.total_gib,
        share=round(share, 1),
        utilization=event.utilization,
        power=event.power_w,
        temperature=event.temperature_c,
        line=draw_power_line(drawn),
        simulated=event.simulated,
        host=event.host,
        unified=event.unified,
        throttled=event.throttled,
    )


def draw_power_line(drawn: Iterable[tuple[float, float]]) -> str:
    known = list(drawn)
    if not known:
        return ""
    newest, top = known[-1][0], max(power for _, power in known) or 1.0
    return " ".join(f"{POWER_SECONDS - (newest - at):.1f},{11.5 - 11 * power / top:.1f}" for at, power in known)

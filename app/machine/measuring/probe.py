"""Probe one replica of one engine."""

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from app import __version__
from app.engines.client import EngineClient, ServedModel
from app.engines.fit.reckoned import Reckoned
from app.engines.metrics import EngineSample
from app.engines.traffic import EngineTraffic
from app.errors import BadInput, EngineError
from app.lineups.model import Engine
from app.machine.measuring.ask import ask
from app.machine.measuring.counters import acceptance, foreign, kv_capacity
from app.machine.measuring.course import WARM_UP, CourseStep, course
from app.machine.measuring.figure import Measured
from app.machine.measuring.figures import Origin, Timed, known_once, limit_share, of_step, other_memory
from app.machine.measuring.gpu_memory import MemoryCards
from app.machine.measuring.load import EngineLoad
from app.machine.measuring.memory import MemoryWatch, Places, watched
from app.machine.measuring.probed import Probed
from app.machine.measuring.processor import processor

Told = Callable[[str], None]


class EngineBusy(BadInput):
    """The engine is answering other requests, which would distort the figures."""


@dataclass(frozen=True)
class ProbeSubject:
    lineup: str
    engine: Engine
    replica: int
    client: EngineClient
    cards: MemoryCards
    places: Places
    """Host and number of each of its GPUs."""
    origin: Origin
    traffic: EngineTraffic = field(default_factory=EngineTraffic)
    """Counts the probe's requests as Temper's own."""
    metrics_url: str = ""
    """Set if the metrics are not beside the base URL."""
    limit: Reckoned | None = None
    """Speed limit of one stream, without speculation."""
    loaded: EngineLoad | None = None
    """How it was loaded, if Temper started it."""

    @property
    def title(self) -> str:
        count = len(self.engine.replicas)
        return self.engine.name + (f", replica {self.replica + 1} of {count}" if count > 1 else "")

    async def ask(self, step: CourseStep) -> list[Timed]:
        return await ask(self.client, self.engine.wire_name, step, self.traffic)


async def probe(subject: ProbeSubject, told: Told) -> Probed:
    """Probe the subject. Raises if no request succeeds; a later error becomes the result's `problem`."""
    told(f"{subject.title}: looking at it")
    model = await _served(subject)
    before = await _sample(subject)
    _expect_idle(subject, before)
    async with watched(subject.cards, subject.places) as watch:
        told(f"{subject.title}: warming up")
        answers = await subject.ask(WARM_UP)
        figures, problem = await _asked(subject, watch, answers, told)
        await watch.look()
    after = await _sample(subject)
    accepted = acceptance(before, after, subject.origin)
    figures += [*watch.figures(subject.origin), kv_capacity(after, subject.origin), *accepted]
    figures = known_once([*figures, *(subject.loaded.figures() if subject.loaded else ())])
    figures += [other_memory(figures), limit_share(figures, subject.limit)]
    return Probed(
        id=secrets.token_hex(4),
        at=time.time(),
        lineup=subject.lineup,
        engine=subject.engine.name,
        replica=subject.replica,
        simulated=subject.origin.simulated,
        gpus=tuple(watch.names.get(gpu, "") for gpu in subject.places.values()),
        conditions=await _conditions(subject, model, watch),
        figures=tuple(figures),
        problem=problem,
        notes=() if problem else foreign(before, after, sum(one.tokens for one in answers)),
    )


async def _asked(
    subject: ProbeSubject, watch: MemoryWatch, answers: list[Timed], told: Told
) -> tuple[list[Measured], str]:
    """Run all steps and return figures and problem. Adds every reply to `answers`."""
    figures: list[Measured] = []
    steps = course(subject.engine)
    for place, step in enumerate(steps, 1):
        told(f"{subject.title}: {step.says} ({place} of {len(steps)})")
        try:
            given = [] if step.skipped else await subject.ask(step)
        except EngineError as exc:
            return figures, f"it ended at {step.says}: {exc}"
        answers += given
        figures += of_step(step, given, subject.origin)
        await watch.look()
    return figures, ""


async def _served(subject: ProbeSubject) -> ServedModel:
    wanted, models = subject.engine.wire_name, await subject.client.models()
    for model in models:
        if model.id == wanted:
            return model
    there = ", ".join(model.id for model in models) or "nothing"
    raise BadInput(f"{subject.title} serves {there}, not {wanted}: give the line-up's served_name the server's word.")


async def _sample(subject: ProbeSubject) -> EngineSample | None:
    """Return the engine's metrics, or None: speed can be measured without them."""
    try:
        return await subject.client.sample(subject.metrics_url)
    except EngineError:
        return None


def _expect_idle(subject: ProbeSubject, sample: EngineSample | None) -> None:
    busy = (sample.running or 0) + (sample.waiting or 0) if sample else 0
    if busy:
        many = f"{busy} requests are" if busy > 1 else "a request is"
        raise EngineBusy(f"{many} being answered by {subject.title}: probe it when it is idle.")


async def _conditions(subject: ProbeSubject, model: ServedModel, watch: MemoryWatch) -> dict[str, str]:
    engine = subject.engine
    found = {
        "Temper": __version__,
        "vLLM": await subject.client.version(),
        "server": model.made_by,
        "model": engine.model,
        "precision": model.quantized or engine.precision_shown,
        "GPUs": ", ".join(watch.names.get(gpu, "") for gpu in subject.places.values()),
        "CPU": processor() if engine.on_cpu else "",
        "tp": "" if engine.on_cpu else str(engine.tp),
        "context": str(model.max_model_len or ""),
        "KV dtype": engine.kv_dtype,
        "speculation": f"{engine.speculation.method}, {engine.speculation.tokens} tokens" if engine.speculation else "",
    }
    return {name: value for name, value in found.items() if value.strip(", ")}

"""Probe one replica of one engine."""

import asyncio
import os
import secrets
import time
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from app import __version__
from app.engines.chat_question_and_reply_types import Message, Question
from app.engines.client import EngineClient, ServedModel
from app.engines.engine_metrics import EngineSample
from app.engines.fit.estimate_result import Estimate
from app.engines.proc_files import PROC, read_value_after_colon
from app.engines.replica_choice import EngineTraffic
from app.errors import BadInput, EngineError
from app.lineups.model import Engine
from app.machine.measuring import probe_figures
from app.machine.measuring.engine_startup_figures import EngineLoad
from app.machine.measuring.gpu_memory_during_probe import (
    GpuIndexByHostAndNumber,
    MemoryCards,
    MemoryWatch,
    watch_gpu_memory,
)
from app.machine.measuring.probe_figures import FigureOrigin, Measured, TimedReply
from app.machine.measuring.probe_load_steps import WARM_UP, ProbeStep, list_probe_steps_with_skip_reasons
from app.machine.measuring.probe_result import ProbeResult


def describe_cpu(cpuinfo_path: Path = PROC / "cpuinfo") -> str:
    """Return model name and cores; Arm kernels report no name."""
    name, cores = read_value_after_colon(cpuinfo_path, "model name"), f"{os.cpu_count()} cores"
    return f"{name}, {cores}" if name else cores


ProgressReport = Callable[[str], None]
STALL_AFTER = 60.0


class EngineBusy(BadInput):
    """The engine is answering other requests, which would distort the figures."""


@dataclass(frozen=True)
class ProbeSubject:
    lineup: str
    engine: Engine
    replica: int
    client: EngineClient
    cards: MemoryCards
    places: GpuIndexByHostAndNumber
    """Host and number of each of its GPUs."""
    origin: FigureOrigin
    traffic: EngineTraffic = field(default_factory=EngineTraffic)
    """Counts the probe's requests as Temper's own."""
    metrics_url: str = ""
    """Set if the metrics are not beside the base URL."""
    limit: Estimate | None = None
    loaded: EngineLoad | None = None
    """How it was loaded, if Temper started it."""

    @property
    def title(self) -> str:
        count = len(self.engine.replicas)
        return self.engine.name + (f", replica {self.replica + 1} of {count}" if count > 1 else "")

    async def send_step(self, step: ProbeStep) -> list[TimedReply]:
        return await send_timed_requests(self.client, self.engine.wire_name, step, self.traffic)


async def run_probe(subject: ProbeSubject, report_progress: ProgressReport) -> ProbeResult:
    """Probe the subject. Raises if no request succeeds; a later error becomes the result's `problem`."""
    report_progress(f"{subject.title}: looking at it")
    model = await _require_configured_model(subject)
    before = await _find_sample(subject)
    _require_idle(subject, before)
    async with watch_gpu_memory(subject.cards, subject.places) as watch:
        report_progress(f"{subject.title}: warming up")
        answers = await subject.send_step(WARM_UP)
        figures, problem = await _run_steps_and_get_figures_and_problem(subject, watch, answers, report_progress)
        await watch.record_card_readings_once()
    after = await _find_sample(subject)
    figures += [*watch.list_figures(subject.origin), probe_figures.measure_kv_capacity(after, subject.origin)]
    figures += probe_figures.measure_acceptance(before, after, subject.origin)
    figures = probe_figures.keep_one_per_name_preferring_known(
        [*figures, *(subject.loaded.list_figures() if subject.loaded else ())]
    )
    limit_share = probe_figures.compute_speed_limit_share(figures, subject.limit)
    figures += [probe_figures.compute_memory_beside_weights_and_kv(figures), limit_share]
    return ProbeResult(
        id=secrets.token_hex(4),
        at=time.time(),
        lineup=subject.lineup,
        engine=subject.engine.name,
        replica=subject.replica,
        simulated=subject.origin.simulated,
        gpus=tuple(watch.names.get(gpu, "") for gpu in subject.places.values()),
        conditions=await _read_conditions(subject, model, watch),
        figures=tuple(figures),
        problem=problem,
        notes=()
        if problem
        else probe_figures.describe_foreign_tokens(before, after, sum(one.tokens for one in answers)),
    )


async def _run_steps_and_get_figures_and_problem(
    subject: ProbeSubject, watch: MemoryWatch, answers_to_extend: list[TimedReply], report_progress: ProgressReport
) -> tuple[list[Measured], str]:
    """Run all steps and return figures and problem. Adds every reply to `answers_to_extend`."""
    figures: list[Measured] = []
    steps = list_probe_steps_with_skip_reasons(subject.engine)
    for place, step in enumerate(steps, 1):
        report_progress(f"{subject.title}: {step.label} ({place} of {len(steps)})")
        try:
            given = [] if step.skipped else await subject.send_step(step)
        except EngineError as exc:
            return figures, f"it ended at {step.label}: {exc}"
        answers_to_extend += given
        figures += probe_figures.compute_step_figures(step, given, subject.origin)
        await watch.record_card_readings_once()
    return figures, ""


async def _require_configured_model(subject: ProbeSubject) -> ServedModel:
    wanted, models = subject.engine.wire_name, await subject.client.list_models()
    for model in models:
        if model.id == wanted:
            return model
    there = ", ".join(model.id for model in models) or "nothing"
    raise BadInput(
        f"{subject.title} serves {there}, not {wanted}: set served_name in the line-up to the server's model name."
    )


async def _find_sample(subject: ProbeSubject) -> EngineSample | None:
    """Return the engine's metrics, or None: speed can be measured without them."""
    try:
        return await subject.client.read_sample(subject.metrics_url)
    except EngineError:
        return None


def _require_idle(subject: ProbeSubject, sample: EngineSample | None) -> None:
    busy = (sample.running or 0) + (sample.waiting or 0) if sample else 0
    if busy:
        many = f"{busy} requests are" if busy > 1 else "a request is"
        raise EngineBusy(f"{many} being answered by {subject.title}: probe it when it is idle.")


async def _read_conditions(subject: ProbeSubject, model: ServedModel, watch: MemoryWatch) -> dict[str, str]:
    engine = subject.engine
    found = {
        "Temper": __version__,
        "vLLM": await subject.client.read_version(),
        "server": model.made_by,
        "model": engine.model,
        "precision": model.quantized or engine.precision_label,
        "GPUs": ", ".join(watch.names.get(gpu, "") for gpu in subject.places.values()),
        "CPU": describe_cpu() if engine.is_on_cpu else "",
        "tp": str(engine.tp) if engine.gpus else "",
        "context": str(model.max_model_len or ""),
        "KV dtype": engine.kv_dtype,
        "speculation": f"{engine.speculation.method}, {engine.speculation.tokens} tokens" if engine.speculation else "",
    }
    return {name: value for name, value in found.items() if value.strip(", ")}


async def send_timed_requests(
    client: EngineClient, model: str, step: ProbeStep, traffic: EngineTraffic
) -> list[TimedReply]:
    """Send as many streams as the step has. The first failure cancels the others and is raised."""
    try:
        async with asyncio.TaskGroup() as group:
            requests = [_send_timed_request(client, model, step, stream, traffic) for stream in range(step.streams)]
            tasks = [group.create_task(request) for request in requests]
    except BaseExceptionGroup as failed:
        # Not except*: what is raised in it is wrapped in another group by Python 3.11.2.
        of_engine, others = failed.split(EngineError)
        if of_engine is None or others is not None:
            raise
        raise _get_first_error(of_engine) from failed
    return [task.result() for task in tasks]


async def _send_timed_request(
    client: EngineClient, model: str, step: ProbeStep, stream: int, traffic: EngineTraffic
) -> TimedReply:
    asked = create_question(model, step, stream, secrets.token_hex(4))
    left = time.monotonic()
    with traffic.track_request(client.base_url):
        _, end = await client.read_reply(asked, stall_after=STALL_AFTER)
    return TimedReply(
        asked=step.tokens,
        tokens=end.completion_tokens,
        prompt_tokens=end.prompt_tokens,
        ttft=end.ttft,
        rate=end.decode_rate,
        left=left,
        ended=time.monotonic(),
    )


def create_question(model: str, step: ProbeStep, stream: int, mark: str) -> Question:
    """Build a question in plain English: on random tokens speculation succeeds only by chance.

    `mark` comes first and is always new, so no prefix cache shortens the first token."""
    passages, tasks = _load_prompt_passages_and_tasks()
    first, second = passages[stream % len(passages)], passages[(stream + 1) % len(passages)]
    text = f"Case {mark}.\n\n{first}\n\n{second}\n\n{tasks[stream % len(tasks)]} Take all the room you need."
    messages, extra = (Message("user", text),), {"ignore_eos": True}
    return Question(model, messages, "", None, f"probe.{mark}", step.tokens, temperature=0.0, extra=extra)


@cache
def _load_prompt_passages_and_tasks() -> tuple[list[str], list[str]]:
    texts = tomllib.loads(Path(__file__).with_name("probe_prompts.toml").read_text(encoding="utf-8"))
    return texts["passages"], texts["tasks"]


def _get_first_error(error_group: BaseExceptionGroup[EngineError]) -> EngineError:
    found = error_group.exceptions[0]
    return _get_first_error(found) if isinstance(found, BaseExceptionGroup) else found

"""Checks of an engine's log: failed starts, starts that succeeded by luck, and suspicious lines."""

from collections.abc import Callable
from dataclasses import dataclass

from app.engines.doctor.boots import Boot
from app.engines.doctor.case import BLACKWELL, gemma4_flags_missing
from app.engines.doctor.memory import HIGH, MANY
from app.engines.doctor.pitfall import Pitfall, Said, Severity, worst_first
from app.lineups.model import Engine, Lineup

LOW_ACCEPTANCE = 45.0
"""Per cent. EAGLE3 reaches 22 to 44 on random tokens, and more on real text."""
_NATIVE = "FlashInferCutlassNvFp4LinearKernel"


@dataclass(frozen=True)
class DoctorLog:
    """The boots of a log, and the engine of the line-up that wrote it, if known."""

    boots: tuple[Boot, ...]
    engine: Engine | None = None
    kinds: tuple[str, ...] = ()
    """Kinds of the engine's GPUs."""
    others: tuple[str, ...] = ()
    """Engines of the line-up, if the log belongs to none of them."""

    @property
    def last(self) -> Boot:
        return self.boots[-1]


def diagnose_log(boots: tuple[Boot, ...], lineup: Lineup | None = None) -> tuple[Pitfall, ...]:
    told = _of(boots, lineup)
    name = told.engine.name if told.engine else ""
    return worst_first(said.of(check, name) for check, ask in CHECKS.items() if (said := ask(told)))


def _of(boots: tuple[Boot, ...], lineup: Lineup | None) -> DoctorLog:
    engines = tuple(lineup.engines.values()) if lineup else ()
    names = {boots[-1].flag("served_model_name"), boots[-1].flag("model"), boots[-1].flag("model_tag")} - {""}
    fitting = [engine for engine in engines if {engine.wire_name, engine.model} & names]
    if not names and len(engines) == 1:
        fitting = list(engines)
    if len(fitting) != 1 or lineup is None:
        return DoctorLog(boots, others=tuple(engine.wire_name for engine in engines) if names and not fitting else ())
    gpus = [gpu for gpu in lineup.gpus if gpu.index in fitting[0].gpus]
    return DoctorLog(boots, fitting[0], tuple(gpu.kind for gpu in gpus))


def of_another_model(told: DoctorLog) -> Said | None:
    if not told.others:
        return None
    serves = told.last.flag("served_model_name") or told.last.flag("model")
    says = f"this log is of {serves}, which no engine of the line-up serves ({', '.join(told.others)})"
    return Said("warn", says, "give the log of one of them, or leave the line-up out")


def ended_by_a_fatal_line(told: DoctorLog) -> Said | None:
    """Report the first fatal line; later ones are consequences."""
    boot = told.last
    if boot.cause is None:
        return None
    when = "while it served" if boot.served else "before it served"
    return Said("stop", f"line {boot.at:,}: {boot.cause.says}, {when}", boot.cause.fix)


def started_by_luck(told: DoctorLog) -> Said | None:
    failed = [boot for boot in told.boots[:-1] if not boot.up]
    if not failed or not told.last.up:
        return None
    causes = list(dict.fromkeys(boot.cause.says for boot in failed if boot.cause))
    why = f": {'; '.join(causes)}" if causes else ", and the log names no cause that is known"
    return Said(
        "stop" if causes else "warn",
        f"it came up after {len(failed)} start{'s' if len(failed) > 1 else ''} that failed{why}. "
        "A second try that works is luck with fragments of memory, and the next start may not have it",
        next((boot.cause.fix for boot in failed if boot.cause), "lower max_model_len, utilization or max_num_seqs"),
    )


def died_and_was_started_again(told: DoctorLog) -> Said | None:
    died = [boot.cause for boot in told.boots[:-1] if boot.served and boot.cause]
    if not died or told.last.cause:
        return None
    says = f"it died while it served and was started again: {died[-1].says}"
    return Said("warn", f"{says}. What ended it once will end it again", died[-1].fix)


def not_up_yet(told: DoctorLog) -> Said | None:
    if told.last.up or told.last.cause:
        return None
    says = f"the log ends before it serves; the last step was: {told.last.step or 'none that is known'}"
    return Said("warn", says, "wait and read it again, or read its end: no line of it is known to be fatal")


def marlin(told: DoctorLog) -> Said | None:
    if "marlin" not in told.last.marks:
        return None
    if told.kinds and all(BLACKWELL.search(kind) for kind in told.kinds):
        says = f"NVFP4 runs on Marlin, and {told.kinds[0]} has FP4 cores: this build of vLLM has no kernel for them"
        return Said("warn", says, f"use a build for this GPU, whose log says Using {_NATIVE}")
    if told.kinds:
        says = f"NVFP4 runs on Marlin, as it must on {told.kinds[0]}: it saves memory, and no arithmetic"
        return Said("note", says, "nothing to mend")
    says = "NVFP4 runs on Marlin: right on L4 and Hopper, the wrong build on Blackwell"
    return Said("note", says, f"on Blackwell use a build whose log says Using {_NATIVE}; give the line-up to be told")


def marked(mark: str, severity: Severity, says: str, fix: str) -> Callable[[DoctorLog], Said | None]:
    """Create a check that reports a diagnosis if the last boot has the mark."""
    return lambda told: Said(severity, says, fix) if mark in told.last.marks else None


def high_utilization(told: DoctorLog) -> Said | None:
    boot = told.last
    share, seqs = _number(boot.flag("gpu_memory_utilization")), _number(boot.flag("max_num_seqs"))
    if share <= HIGH or 0 < seqs < MANY or boot.flag("enforce_eager") == "True":
        return None
    says = (
        f"utilization was {share:g}, past the {HIGH} at which the capture of CUDA graphs for {MANY} requests still fits"
    )
    return Said("warn", says, f"set utilization = {HIGH} or less, or max_num_seqs below {MANY}")


def parsers_are_missing(told: DoctorLog) -> Said | None:
    boot = told.last
    if "gemma4" not in boot.marks or not boot.flags:
        return None
    reasons = boot.flag("reasoning_parser") or "reasoning_parser='gemma4'" in boot.flags
    calls, chooses = (bool(boot.flag(name)) for name in ("tool_call_parser", "enable_auto_tool_choice"))
    if not (lacks := gemma4_flags_missing(bool(reasons), calls, chooses)):
        return None
    says = "it was started without Gemma 4's parsers: thoughts land in the answer, and calls of tools stay text"
    return Said("warn", says, f"add {lacks}")


def low_acceptance(told: DoctorLog) -> Said | None:
    if not (accepted := told.last.accepted) or (mean := sum(accepted) / len(accepted)) >= LOW_ACCEPTANCE:
        return None
    says = f"{mean:.0f} % of the drafted tokens were accepted: what random tokens give, which nobody can guess"
    return Said("note", says, "judge a drafter by real text: temper probe asks in plain English")


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0


CHECKS: dict[str, Callable[[DoctorLog], Said | None]] = {
    "log-of-another-model": of_another_model,
    "fatal-line": ended_by_a_fatal_line,
    "boots-on-second-try": started_by_luck,
    "died-and-restarted": died_and_was_started_again,
    "not-up-yet": not_up_yet,
    "marlin-not-native": marlin,
    "nvfp4-experimental": marked(
        "experimental",
        "note",
        "vLLM calls the NVFP4 format experimental (until 0.29): it means the file format, not the answers",
        "nothing to mend; keep the checkpoint and the version of vLLM together",
    ),
    "graphs-not-counted": marked(
        "graphs not counted",
        "warn",
        "CUDA graphs are not taken off the KV pool: they come on top of utilization, and may not find room",
        "take VLLM_MEMORY_PROFILER_ESTIMATE_CUDAGRAPHS=0 out, or lower utilization by 0.05",
    ),
    "graphs-at-high-utilization": high_utilization,
    "missing-parsers": parsers_are_missing,
    "chat-template-failed": marked(
        "template failed",
        "warn",
        "the chat template failed on a request or at the start",
        "fetch the model's current one and name it as chat_template; the log has the line of it",
    ),
    "acceptance-on-random-tokens": low_acceptance,
}

"""Checks of an engine's log: failed starts, starts that succeeded by luck, and suspicious lines."""

from collections.abc import Callable
from dataclasses import dataclass

from app.engines.doctor.boot_log import Boot
from app.engines.doctor.engine_situation import BLACKWELL, NATIVE_FP4, list_missing_gemma4_flags
from app.engines.doctor.memory_checks import HIGH, MANY
from app.engines.doctor.pitfall import Diagnosis, Pitfall, Severity, sort_worst_first
from app.lineups.model import Engine, Lineup

LOW_ACCEPTANCE = 45.0
"""Per cent. EAGLE3 reaches 22 to 44 on random tokens, and more on real text."""


@dataclass(frozen=True)
class ParsedLog:
    """The boots of a log, and the engine of the line-up that wrote it, if known."""

    boots: tuple[Boot, ...]
    engine: Engine | None = None
    kinds: tuple[str, ...] = ()
    """Kinds of the engine's GPUs."""
    others: tuple[str, ...] = ()
    """Engines of the line-up, if the log belongs to none of them."""

    @property
    def last_boot(self) -> Boot:
        return self.boots[-1]


def diagnose_log(boots: tuple[Boot, ...], lineup: Lineup | None = None) -> tuple[Pitfall, ...]:
    told = _match_engine(boots, lineup)
    name = told.engine.name if told.engine else ""
    return sort_worst_first(said.to_pitfall(check, name) for check, ask in CHECKS.items() if (said := ask(told)))


def _match_engine(boots: tuple[Boot, ...], lineup: Lineup | None) -> ParsedLog:
    engines = tuple(lineup.engines.values()) if lineup else ()
    names = {boots[-1].get_flag("served_model_name"), boots[-1].get_flag("model"), boots[-1].get_flag("model_tag")} - {
        ""
    }
    fitting = [engine for engine in engines if {engine.wire_name, engine.model} & names]
    if not names and len(engines) == 1:
        fitting = list(engines)
    if len(fitting) != 1 or lineup is None:
        return ParsedLog(boots, others=tuple(engine.wire_name for engine in engines) if names and not fitting else ())
    gpus = [gpu for gpu in lineup.gpus if gpu.index in fitting[0].gpus]
    return ParsedLog(boots, fitting[0], tuple(gpu.kind for gpu in gpus))


def check_log_model(told: ParsedLog) -> Diagnosis | None:
    if not told.others:
        return None
    serves = told.last_boot.get_flag("served_model_name") or told.last_boot.get_flag("model")
    says = f"this log is of {serves}, which no engine of the line-up serves ({', '.join(told.others)})"
    return Diagnosis("warn", says, "give the log of one of them, or leave the line-up out")


def check_fatal_line(told: ParsedLog) -> Diagnosis | None:
    """Report the first fatal line; later ones are consequences."""
    boot = told.last_boot
    if boot.cause is None:
        return None
    when = "while it served" if boot.served else "before it served"
    return Diagnosis("stop", f"line {boot.at:,}: {boot.cause.says}, {when}", boot.cause.fix)


def check_lucky_start(told: ParsedLog) -> Diagnosis | None:
    failed = [boot for boot in told.boots[:-1] if not boot.up]
    if not failed or not told.last_boot.up:
        return None
    causes = list(dict.fromkeys(boot.cause.says for boot in failed if boot.cause))
    why = f": {'; '.join(causes)}" if causes else ", and the log names no cause that is known"
    return Diagnosis(
        "stop" if causes else "warn",
        f"it came up after {len(failed)} start{'s' if len(failed) > 1 else ''} that failed{why}. "
        "A second try that works is luck with fragments of memory, and the next start may not have it",
        next((boot.cause.fix for boot in failed if boot.cause), "lower max_model_len, utilization or max_num_seqs"),
    )


def check_restart_after_death(told: ParsedLog) -> Diagnosis | None:
    died = [boot.cause for boot in told.boots[:-1] if boot.served and boot.cause]
    if not died or told.last_boot.cause:
        return None
    says = f"it died while it served and was started again: {died[-1].says}"
    return Diagnosis("warn", f"{says}. What ended it once will end it again", died[-1].fix)


def check_unfinished_start(told: ParsedLog) -> Diagnosis | None:
    if told.last_boot.up or told.last_boot.cause:
        return None
    says = f"the log ends before it serves; the last step was: {told.last_boot.step or 'none that is known'}"
    return Diagnosis("warn", says, "wait and read it again, or read its end: no line of it is known to be fatal")


def check_marlin(told: ParsedLog) -> Diagnosis | None:
    if "marlin" not in told.last_boot.marks:
        return None
    if told.kinds and all(BLACKWELL.search(kind) for kind in told.kinds):
        says = f"NVFP4 runs on Marlin, and {told.kinds[0]} has FP4 cores: this build of vLLM has no kernel for them"
        return Diagnosis("warn", says, f"use a build for this GPU, whose log says Using {NATIVE_FP4}")
    if told.kinds:
        says = f"NVFP4 runs on Marlin, as it must on {told.kinds[0]}: it saves memory, and no arithmetic"
        return Diagnosis("note", says, "no action needed")
    says = "NVFP4 runs on Marlin: right on L4 and Hopper, the wrong build on Blackwell"
    return Diagnosis(
        "note", says, f"on Blackwell use a build whose log says Using {NATIVE_FP4}; give the line-up to be told"
    )


def create_mark_check(mark: str, severity: Severity, says: str, fix: str) -> Callable[[ParsedLog], Diagnosis | None]:
    """Create a check that reports a diagnosis if the last boot has the mark."""
    return lambda told: Diagnosis(severity, says, fix) if mark in told.last_boot.marks else None


def check_high_utilization(told: ParsedLog) -> Diagnosis | None:
    boot = told.last_boot
    share, seqs = _parse_number(boot.get_flag("gpu_memory_utilization")), _parse_number(boot.get_flag("max_num_seqs"))
    if share <= HIGH or 0 < seqs < MANY or boot.get_flag("enforce_eager") == "True":
        return None
    says = (
        f"utilization was {share:g}, past the {HIGH} at which the capture of CUDA graphs for {MANY} requests still fits"
    )
    return Diagnosis("warn", says, f"set utilization = {HIGH} or less, or max_num_seqs below {MANY}")


def check_logged_parsers(told: ParsedLog) -> Diagnosis | None:
    boot = told.last_boot
    if "gemma4" not in boot.marks or not boot.flags:
        return None
    reasons = boot.get_flag("reasoning_parser") or "reasoning_parser='gemma4'" in boot.flags
    calls, chooses = (bool(boot.get_flag(name)) for name in ("tool_call_parser", "enable_auto_tool_choice"))
    if not (lacks := list_missing_gemma4_flags(bool(reasons), calls, chooses)):
        return None
    says = "it was started without Gemma 4's parsers: thoughts land in the answer, and calls of tools stay text"
    return Diagnosis("warn", says, f"add {lacks}")


def check_low_acceptance(told: ParsedLog) -> Diagnosis | None:
    if not (accepted := told.last_boot.accepted) or (mean := sum(accepted) / len(accepted)) >= LOW_ACCEPTANCE:
        return None
    says = (
        f"{mean:.0f} % of the drafted tokens were accepted, as few as with random tokens, which a "
        "drafter cannot predict"
    )
    return Diagnosis("note", says, "measure a drafter on real text, as temper probe does")


def _parse_number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0


CHECKS: dict[str, Callable[[ParsedLog], Diagnosis | None]] = {
    "log-of-another-model": check_log_model,
    "fatal-line": check_fatal_line,
    "boots-on-second-try": check_lucky_start,
    "died-and-restarted": check_restart_after_death,
    "not-up-yet": check_unfinished_start,
    "marlin-not-native": check_marlin,
    "nvfp4-experimental": create_mark_check(
        "experimental",
        "note",
        "vLLM calls the NVFP4 format experimental (until 0.29): it means the file format, not the answers",
        "nothing to mend; keep the checkpoint and the version of vLLM together",
    ),
    "graphs-not-counted": create_mark_check(
        "graphs not counted",
        "warn",
        "CUDA graphs are not taken off the KV pool: they come on top of utilization, and may not find room",
        "take VLLM_MEMORY_PROFILER_ESTIMATE_CUDAGRAPHS=0 out, or lower utilization by 0.05",
    ),
    "graphs-at-high-utilization": check_high_utilization,
    "missing-parsers": check_logged_parsers,
    "chat-template-failed": create_mark_check(
        "template failed",
        "warn",
        "the chat template failed on a request or at the start",
        "fetch the model's current one and name it as chat_template; the log has the line of it",
    ),
    "acceptance-on-random-tokens": check_low_acceptance,
}

"""Checks of an engine's log: failed starts, starts that succeeded by luck, and suspicious lines."""

from dataclasses import dataclass, replace

from app.engines.doctor.engine_log_boots import Boot
from app.engines.doctor.gpu_memory_checks import HIGH, MANY
from app.engines.doctor.launch_situation import BLACKWELL, NATIVE_FP4, format_missing_gemma4_flags
from app.engines.doctor.pitfall import Pitfall, create_pitfall, sort_by_engine_and_severity
from app.lineups.model import Engine, Lineup

LOW_ACCEPTANCE = 45.0
"""Per cent. EAGLE3 reaches 22 to 44 on random tokens, and more on real text."""


@dataclass(frozen=True)
class ParsedLog:
    """The boots of a log, and the engine of the line-up that wrote it, if known."""

    boots: tuple[Boot, ...]
    engine: Engine | None = None
    kinds: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    """Engines of the line-up, if the log belongs to none of them."""

    @property
    def last_boot(self) -> Boot:
        return self.boots[-1]


def diagnose_log(boots: tuple[Boot, ...], lineup: Lineup | None = None) -> tuple[Pitfall, ...]:
    log = _build_parsed_log(boots, lineup)
    found = [
        *(pitfall for check in CHECKS if (pitfall := check(log))),
        *(create_pitfall(f"log.{mark}") for mark in MARKS if mark in log.last_boot.marks),
    ]
    return sort_by_engine_and_severity(replace(one, engine=log.engine.name if log.engine else "") for one in found)


def _build_parsed_log(boots: tuple[Boot, ...], lineup: Lineup | None) -> ParsedLog:
    engines = tuple(lineup.engines.values()) if lineup else ()
    flags = ("served_model_name", "model", "model_tag")
    names = {value for flag in flags if (value := boots[-1].get_flag(flag))}
    fitting = [engine for engine in engines if {engine.wire_name, engine.model} & names]
    if not names and len(engines) == 1:
        fitting = list(engines)
    if len(fitting) != 1 or lineup is None:
        return ParsedLog(boots, others=tuple(engine.wire_name for engine in engines) if names and not fitting else ())
    gpus = [gpu for gpu in lineup.gpus if gpu.index in fitting[0].gpus]
    return ParsedLog(boots, fitting[0], tuple(gpu.kind for gpu in gpus))


def check_log_of_another_model(log: ParsedLog) -> Pitfall | None:
    if not log.others:
        return None
    model = log.last_boot.get_flag("served_model_name") or log.last_boot.get_flag("model")
    return create_pitfall("log.log-of-another-model", model=model, others=", ".join(log.others))


def check_fatal_line(log: ParsedLog) -> Pitfall | None:
    """Report the first fatal line; later ones are consequences."""
    boot = log.last_boot
    if boot.cause is None:
        return None
    when = "while it served" if boot.served else "before it served"
    return create_pitfall("log.fatal-line", line=boot.at, cause=boot.cause.says, when=when, fix=boot.cause.fix)


def check_start_after_failed_starts(log: ParsedLog) -> Pitfall | None:
    failed = [boot for boot in log.boots[:-1] if not boot.up]
    if not failed or not log.last_boot.up:
        return None
    starts = "1 failed start" if len(failed) == 1 else f"{len(failed)} failed starts"
    causes = [boot.cause for boot in failed if boot.cause]
    if not causes:
        return create_pitfall("log.boots-on-second-try.unknown-cause", starts=starts)
    why = "; ".join(dict.fromkeys(cause.says for cause in causes))
    return create_pitfall("log.boots-on-second-try", starts=starts, causes=why, fix=causes[0].fix)


def check_restart_after_death(log: ParsedLog) -> Pitfall | None:
    died = [boot.cause for boot in log.boots[:-1] if boot.served and boot.cause]
    if not died or log.last_boot.cause:
        return None
    return create_pitfall("log.died-and-restarted", cause=died[-1].says, fix=died[-1].fix)


def check_unfinished_start(log: ParsedLog) -> Pitfall | None:
    if log.last_boot.up or log.last_boot.cause:
        return None
    return create_pitfall("log.not-up-yet", step=log.last_boot.step or "none")


def check_marlin(log: ParsedLog) -> Pitfall | None:
    if "marlin" not in log.last_boot.marks:
        return None
    if not log.kinds:
        return create_pitfall("log.marlin-not-native", kernel=NATIVE_FP4)
    variant = "wrong-build" if all(BLACKWELL.search(kind) for kind in log.kinds) else "expected"
    return create_pitfall(f"log.marlin-not-native.{variant}", gpu=log.kinds[0], kernel=NATIVE_FP4)


def check_graphs_at_high_memory_utilization(log: ParsedLog) -> Pitfall | None:
    boot = log.last_boot
    flags = ("gpu_memory_utilization", "max_num_seqs")
    share, seqs = (_parse_number_or_zero(boot.get_flag(flag)) for flag in flags)
    if share <= HIGH or 0 < seqs < MANY or boot.get_flag("enforce_eager") == "True":
        return None
    return create_pitfall("log.graphs-at-high-utilization", share=share, high=HIGH, many=MANY)


def check_log_for_missing_gemma4_parsers(log: ParsedLog) -> Pitfall | None:
    boot = log.last_boot
    if "gemma4" not in boot.marks or not boot.flags:
        return None
    reasons = boot.get_flag("reasoning_parser") or "reasoning_parser='gemma4'" in boot.flags
    calls, chooses = (bool(boot.get_flag(name)) for name in ("tool_call_parser", "enable_auto_tool_choice"))
    lacks = format_missing_gemma4_flags(bool(reasons), calls, chooses)
    return create_pitfall("log.missing-parsers", flags=lacks) if lacks else None


def check_low_acceptance(log: ParsedLog) -> Pitfall | None:
    if not (accepted := log.last_boot.accepted) or (mean := sum(accepted) / len(accepted)) >= LOW_ACCEPTANCE:
        return None
    return create_pitfall("log.acceptance-on-random-tokens", mean=mean)


def _parse_number_or_zero(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0


CHECKS = (
    check_log_of_another_model,
    check_fatal_line,
    check_start_after_failed_starts,
    check_restart_after_death,
    check_unfinished_start,
    check_marlin,
    check_graphs_at_high_memory_utilization,
    check_log_for_missing_gemma4_parsers,
    check_low_acceptance,
)
MARKS = ("nvfp4-experimental", "graphs-not-counted", "chat-template-failed")
"""Marks of a boot that are findings by themselves."""

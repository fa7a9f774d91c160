"""Run all checks on a line-up before anything is started. Pure."""

from collections.abc import Callable

from app.engines.doctor import drafting, memory, model, on_cpu, serving, template
from app.engines.doctor.case import Situation, cases
from app.engines.doctor.here import NOTHING, Here
from app.engines.doctor.pitfall import Pitfall, Said, worst_first
from app.lineups.model import Lineup

CHECKS: dict[str, Callable[[Situation], Said | None]] = {
    "cannot-be-reckoned": memory.cannot_be_reckoned,
    "tp-does-not-divide-heads": model.heads_do_not_divide,
    "too-few-gpus": model.gpus_are_too_few,
    "pp-with-gemma4": model.pipeline_crashes,
    "beyond-the-model": memory.beyond_the_model,
    "context-without-kv": memory.too_long,
    "does-not-fit": memory.does_not_fit,
    "starts-by-luck": memory.starts_by_luck,
    "graphs-at-high-utilization": memory.graphs_at_the_edge,
    "multimodal-at-high-utilization": memory.media_at_high_utilization,
    "max-num-seqs-past-the-knee": memory.past_the_knee,
    "little-memory-left": memory.little_is_left,
    "unreadable-flag": serving.flags_unreadable,
    "flag-overrides-lineup": serving.flags_contradict,
    "stale-chat-template": template.template_is_stale,
    "missing-parsers": serving.parsers_are_missing,
    "image-without-digest": serving.image_is_not_pinned,
    "padded-answers": serving.answers_are_padded,
    "attention-not-ignored": model.attention_is_not_ignored,
    "marlin-forced": serving.marlin_is_forced,
    "attention-backend-forced": serving.backend_is_forced,
    "mtp-without-method": drafting.mtp_is_not_said,
    "mtp-too-early": drafting.mtp_is_too_early,
    "parallel-drafting-unprepared": drafting.parallel_drafting_is_unprepared,
    "dflash-on-ada": drafting.dflash_on_ada,
    "acceptance-on-random-tokens": drafting.acceptance_is_of_random_text,
}

ON_CPU: dict[str, Callable[[Situation], Said | None]] = {
    "llamacpp-not-installed": on_cpu.is_not_installed,
    "weights-missing": on_cpu.has_no_weights,
    "processor-too-old": on_cpu.is_too_old,
    "does-not-fit": on_cpu.does_not_fit,
}


def diagnose(lineup: Lineup, here: Here = NOTHING) -> tuple[Pitfall, ...]:
    return worst_first(
        said.of(name, case.engine.name)
        for case in cases(lineup, here)
        for name, check in (ON_CPU if case.engine.on_cpu else CHECKS).items()
        if (said := check(case))
    )

"""Run all checks on a line-up before anything is started. Pure."""

from collections.abc import Callable
from dataclasses import replace

from app.engines.doctor import (
    gpu_memory_checks,
    model_can_run_checks,
    speculation_checks,
    vllm_flag_and_template_checks,
)
from app.engines.doctor.files_and_environment_for_checks import NOTHING, LocalInventory
from app.engines.doctor.launch_situation import Situation, build_situations
from app.engines.doctor.pitfall import Pitfall, sort_by_engine_and_severity
from app.lineups.model import Engine, Lineup

Check = Callable[[Situation], Pitfall | None]

CHECKS: tuple[Check, ...] = (
    gpu_memory_checks.check_unknown_fit,
    model_can_run_checks.check_refused_split,
    model_can_run_checks.check_gpu_count,
    model_can_run_checks.check_pipeline_crash,
    model_can_run_checks.check_settings_beyond_model,
    gpu_memory_checks.check_context_memory,
    gpu_memory_checks.check_memory_fit,
    gpu_memory_checks.check_context_margin,
    gpu_memory_checks.check_graphs_at_high_utilization,
    gpu_memory_checks.check_media_at_high_utilization,
    gpu_memory_checks.check_max_num_seqs_beyond_bandwidth,
    gpu_memory_checks.check_gpu_memory_left_unclaimed,
    vllm_flag_and_template_checks.check_refused_flag_values,
    vllm_flag_and_template_checks.check_flags_contradicting_lineup,
    vllm_flag_and_template_checks.check_chat_template,
    vllm_flag_and_template_checks.check_parser_flags,
    vllm_flag_and_template_checks.check_image_pinned_by_digest,
    vllm_flag_and_template_checks.check_whitespace_padding_allowed,
    model_can_run_checks.check_attention_ignored_by_names_not_pattern,
    vllm_flag_and_template_checks.check_forced_marlin,
    vllm_flag_and_template_checks.check_forced_backend,
    speculation_checks.check_mtp_method,
    speculation_checks.check_mtp_version,
    speculation_checks.check_parallel_drafting,
    speculation_checks.check_dflash_on_ada,
    speculation_checks.check_acceptance_on_random_tokens,
)
ON_CPU: tuple[Check, ...] = (
    model_can_run_checks.check_llamacpp_installed,
    model_can_run_checks.check_weights_exist,
    model_can_run_checks.check_cpu_instruction_support,
    model_can_run_checks.check_main_memory,
)


def _select_checks(engine: Engine) -> tuple[Check, ...]:
    if engine.is_endpoint:
        return ()  # its flags and its machine are somebody else's: `temper probe URL` asks the server itself
    return ON_CPU if engine.is_on_cpu else CHECKS


def diagnose_lineup(lineup: Lineup, inventory: LocalInventory = NOTHING) -> tuple[Pitfall, ...]:
    return sort_by_engine_and_severity(
        replace(pitfall, engine=case.engine.name)
        for case in build_situations(lineup, inventory)
        for check in _select_checks(case.engine)
        if (pitfall := check(case))
    )

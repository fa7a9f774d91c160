"""Checks of an engine on the CPU: the package, weights, processor and memory for llama.cpp."""

from app.engines.doctor.engine_situation import Situation
from app.engines.doctor.pitfall import Diagnosis
from app.engines.llamacpp.gguf_files import SET_UP

NEAR = 0.8
"""Share of the available memory for the weights; the rest is for the KV cache and other processes."""


def check_llamacpp_installed(case: Situation) -> Diagnosis | None:
    if not case.is_launched or case.inventory.llamacpp.installed:
        return None
    return Diagnosis("stop", "llama.cpp (the package xllamacpp) is not installed beside Temper", SET_UP)


def check_weights_exist(case: Situation) -> Diagnosis | None:
    says, _, fix = case.inventory.llamacpp.missing.get(case.engine.model, "").partition(": ")
    return (
        Diagnosis("stop", says, fix.rstrip(".") or "correct model in the line-up")
        if case.is_launched and says
        else None
    )


def check_processor_support(case: Situation) -> Diagnosis | None:
    if not case.is_launched or not (lacks := case.inventory.llamacpp.lacks):
        return None
    says = f"this processor lacks {', '.join(lacks)}: the wheels of xllamacpp end with an illegal instruction"
    return Diagnosis("stop", says, "build xllamacpp from its source here, or start llama-server and give its base_urls")


def check_cpu_memory(case: Situation) -> Diagnosis | None:
    here = case.inventory.llamacpp
    size, there = here.sizes_gib.get(case.engine.model), here.available_gib
    if not case.is_launched or size is None or there is None or size <= NEAR * there:
        return None
    says = f"its weights take {size:.1f} GiB, and {there:.1f} GiB of main memory are available"
    return Diagnosis("stop" if size > there else "warn", says, "use a smaller model or a smaller quantization")

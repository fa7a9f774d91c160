"""Checks of an engine on the CPU: the package, weights, processor and memory for llama.cpp."""

from app.engines.doctor.case import Situation
from app.engines.doctor.pitfall import Said
from app.engines.llamacpp.weights import SET_UP

NEAR = 0.8
"""Share of the available memory for the weights; the rest is for the KV cache and other processes."""


def is_not_installed(case: Situation) -> Said | None:
    if not case.starts or case.here.llamacpp.installed:
        return None
    return Said("stop", "llama.cpp (the package xllamacpp) is not installed beside Temper", SET_UP)


def has_no_weights(case: Situation) -> Said | None:
    says, _, fix = case.here.llamacpp.missing.get(case.engine.model, "").partition(": ")
    return Said("stop", says, fix.rstrip(".") or "mend model in the line-up") if case.starts and says else None


def is_too_old(case: Situation) -> Said | None:
    if not case.starts or not (lacks := case.here.llamacpp.lacks):
        return None
    says = f"this processor lacks {', '.join(lacks)}: the wheels of xllamacpp end with an illegal instruction"
    return Said("stop", says, "build xllamacpp from its source here, or start llama-server and give its base_urls")


def does_not_fit(case: Situation) -> Said | None:
    here = case.here.llamacpp
    size, there = here.sizes_gib.get(case.engine.model), here.available_gib
    if not case.starts or size is None or there is None or size <= NEAR * there:
        return None
    says = f"its weights take {size:.1f} GiB, and {there:.1f} GiB of main memory are available"
    return Said("stop" if size > there else "warn", says, "use a smaller model or a smaller quantization")

"""Checks of vLLM's flags, image and environment."""

from app.engines.doctor.case import BLACKWELL, Situation, gemma4_flags_missing
from app.engines.doctor.pitfall import Said

_NATIVE = "FlashInferCutlassNvFp4LinearKernel"


def flags_contradict(case: Situation) -> Said | None:
    if not case.settled.overridden:
        return None
    names = ", ".join(case.settled.overridden)
    says = f"{names} in flags is not what the line-up's own field says: vLLM takes the flag, plan and page the field"
    return Said("warn", says, "put the value into the line-up's field and take the flag out")


def flags_unreadable(case: Situation) -> Said | None:
    if not case.settled.unreadable:
        return None
    names = ", ".join(case.settled.unreadable)
    return Said("stop", f"the value of {names} is not one that vLLM takes: it ends at once", "mend it in flags")


def image_is_not_pinned(case: Situation) -> Said | None:
    launch = case.engine.launch
    if launch is None or not launch.image or launch.pinned:
        return None
    says = f"the image {launch.image} is named by a tag: whoever publishes there decides what runs tomorrow"
    return Said("warn", says, f"name it by its digest, {launch.image}@sha256:…, as docker image inspect shows it")


def parsers_are_missing(case: Situation) -> Said | None:
    if not case.starts:
        return None
    flags = case.flags
    if "--enable-auto-tool-choice" in flags and not flags.get("--tool-call-parser"):
        says = "--enable-auto-tool-choice without --tool-call-parser: vLLM ends at once"
        return Said("stop", says, "add --tool-call-parser gemma4" if case.is_gemma4 else "name the model's parser")
    if not case.is_gemma4:
        return None
    reasoning, calls = (flags.get(name) == "gemma4" for name in ("--reasoning-parser", "--tool-call-parser"))
    if not (lacks := gemma4_flags_missing(reasoning, calls, "--enable-auto-tool-choice" in flags)):
        return None
    says = "without Gemma 4's parsers thoughts land in the answer, and calls of tools stay text"
    return Said("warn", says, f"add {lacks} to flags")


def answers_are_padded(case: Situation) -> Said | None:
    """Check the option against padded answers, since the roles answer by a JSON Schema."""
    if not case.starts or any("disable_any_whitespace" in value for pair in case.flags.items() for value in pair):
        return None
    flag = '--structured-outputs-config \'{"backend":"xgrammar","disable_any_whitespace":true}\''
    return Said("note", "an answer by schema may be padded with white space until its tokens are gone", f"add {flag}")


def marlin_is_forced(case: Situation) -> Said | None:
    if case.engine.precision != "nvfp4" or not case.all_gpus(BLACKWELL):
        return None
    env = case.environment
    forced = [
        *(["--linear-backend marlin"] if case.flags.get("--linear-backend", "").lower() == "marlin" else []),
        *(["VLLM_NVFP4_GEMM_BACKEND"] if env.get("VLLM_NVFP4_GEMM_BACKEND", "").lower() == "marlin" else []),
        *(["VLLM_DISABLED_KERNELS"] if _NATIVE in env.get("VLLM_DISABLED_KERNELS", "") else []),
    ]
    if not forced:
        return None
    says = f"{forced[0]} keeps vLLM from the FP4 cores that this GPU has: Marlin only unpacks the weights"
    return Said("warn", says, f"take it out; the log should say Using {_NATIVE}")


def backend_is_forced(case: Situation) -> Said | None:
    asked = case.flags.get("--attention-backend") or case.environment.get("VLLM_ATTENTION_BACKEND", "")
    if not case.is_gemma4 or not case.starts or "FLASH_ATTN" not in asked.upper() or case.since(0, 24):
        return None
    says = f"Gemma 4 has heads of two sizes, and vLLM before 0.24 runs it on TRITON_ATTN only: {asked} is rejected"
    return Said("stop", says, "take it out; vLLM chooses by itself")

"""Check for a missing chat template, or one from before Gemma 4's was fixed."""

from app.engines.doctor.engine_situation import Situation
from app.engines.doctor.pitfall import Diagnosis

TEMPLATE_SHA256 = "94899c0f917d93f6fe81c95744d1e8ddab2d21d39228d2e4aec1fb2a25bff413"
"""Google's template for the 31B of 2026-04-30, two days after the fix."""
TEMPLATE_URL = "https://huggingface.co/google/gemma-4-31B-it/raw/main/chat_template.jinja"
_STALE = "older ones put an empty thought into answers without thinking and break the parameters of tools"


def check_chat_template(case: Situation) -> Diagnosis | None:
    if not case.is_gemma4:
        return None
    path, pinned = case.engine.chat_template, case.engine.chat_template_sha256
    if not path:
        return _check_own_template(case)
    found = case.inventory.templates.get(path, "")
    if not found and case.is_launched and case.inventory.serves and not case.runs_in_container:
        says = f"the chat template {path} is not there: vLLM refuses to start"
        return Diagnosis("stop", says, f"fetch it from {TEMPLATE_URL}")
    if found and pinned and found != pinned:
        says = f"the chat template {path} has sha256 {found[:12]}…, the line-up expects {pinned[:12]}…"
        return Diagnosis("warn", says, f"fetch it anew from {TEMPLATE_URL}, or mend chat_template_sha256")
    if (have := found or pinned) and have != TEMPLATE_SHA256:
        says = (
            f"the chat template {path} ({have[:12]}…) is not the one of 2026-04-30 ({TEMPLATE_SHA256[:12]}…): {_STALE}"
        )
        return Diagnosis("warn", says, f"fetch {TEMPLATE_URL}; a newer one than that is right, too")
    if not found:
        says = (
            f"the chat template {path} is not on this machine: where the engine runs vLLM refuses to start without it"
        )
        return Diagnosis("note", says, f"put it there, from {TEMPLATE_URL}")
    return None


def _check_own_template(case: Situation) -> Diagnosis | None:
    model = case.engine.model
    if (found := case.inventory.templates.get(model)) and found != TEMPLATE_SHA256:
        says = f"the checkpoint's own chat template ({found[:12]}…) is not the one of 2026-04-30: {_STALE}"
        return Diagnosis("warn", says, f"fetch {TEMPLATE_URL} and name it as chat_template")
    if found or not case.is_launched or model.lower().startswith("google/"):
        return None
    says = f"no chat_template is named, and checkpoints that others quantised may carry the one from before: {_STALE}"
    return Diagnosis("note", says, f"fetch {TEMPLATE_URL} and name it as chat_template")

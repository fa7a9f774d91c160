"""Bits per weight in each part of the model."""

from app.engines.fit.model_shape_types import ModelShape
from app.errors import BadInput
from app.lineups.model import Precision

BF16 = 16.0


def compute_bits_per_mlp_weight(precision: Precision, shape: ModelShape) -> float:
    match precision:
        case "bf16":
            return BF16
        case "fp8":
            return 8.0
        case "nvfp4":
            return 4 + 8 / _get_group_size(shape, 16)  # one fp8 scale for each group
        case "awq4":
            return 4 + (16 + 4) / _get_group_size(shape, 128)  # a bf16 scale and a 4-bit zero for each group
        case "unstated":
            raise BadInput("The precision is not stated, so its weights cannot be counted: state it in the line-up.")
        case "gguf":
            raise BadInput("gguf is llama.cpp's format, for the processor: a plan is made for vLLM on GPUs.")


def compute_attention_bits(precision: Precision, shape: ModelShape) -> float:
    """Return bits per attention weight. NVFP4 checkpoints of Gemma 4 keep 16, as its outliers do not fit into 4."""
    return BF16 if precision == "nvfp4" else compute_bits_per_mlp_weight(precision, shape)


def describe_precision(precision: Precision, shape: ModelShape) -> str:
    if precision == "bf16":
        return "all at 16 bit"
    mlp, attention = compute_bits_per_mlp_weight(precision, shape), compute_attention_bits(precision, shape)
    linears = f"MLP and attention at {mlp:g} bit" if mlp == attention else f"MLP at {mlp:g} bit"
    return f"{linears}, the rest at 16"


def _get_group_size(shape: ModelShape, default_size: int) -> int:
    return (shape.quantization.group if shape.quantization else None) or default_size

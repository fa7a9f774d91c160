"""Read the layers of a config.json, each with its kind, heads and width."""

from app.engines.fit.checkpoint_config_values import ConfigValues
from app.engines.fit.model_shape_types import Layer, LayerKind

KINDS: dict[str, LayerKind] = {"sliding_attention": "sliding", "full_attention": "full"}
ALL_SLIDING = ("mistral", "mixtral", "phi3")
"""If a window is set, every layer has it."""
ONLY_EXPERTS = ("mixtral", "qwen3_moe")
GEMMA4_GLOBAL_HEAD = 512
MOST_LAYERS = 1000


def read_layers(text_config: ConfigValues, architecture: str) -> tuple[Layer, ...]:
    kinds = _read_layer_kinds(text_config, architecture)
    first_shared = len(kinds) - text_config.read_count("num_kv_shared_layers", 0)
    return tuple(
        _read_layer(text_config, architecture, kind, index, shares_kv=0 < first_shared <= index)
        for index, kind in enumerate(kinds)
    )


def _read_layer(text_config: ConfigValues, architecture: str, kind: LayerKind, index: int, *, shares_kv: bool) -> Layer:
    heads = text_config.read_count("num_attention_heads")
    kv_heads, head_dim = _read_kv_heads_and_dim(text_config, architecture, kind, heads)
    width = 0 if architecture in ONLY_EXPERTS else text_config.read_count("intermediate_size")
    if shares_kv and text_config.read_flag("use_double_wide_mlp", default=False):
        width *= 2
    each = text_config.read_table("per_layer_config")  # written by transformers 5.15 and later for layers that differ
    if each and (own := each.read_table(str(index))):
        kv_heads, head_dim = own.read_count("num_key_value_heads", kv_heads), own.read_count("head_dim", head_dim)
        width = own.read_count("intermediate_size", width)
    if not (head_dim and kv_heads) or heads % kv_heads:
        raise text_config.create_error(
            f"its {heads} attention heads cannot share {kv_heads} of {head_dim} for keys and values"
        )
    return Layer(
        kind=kind,
        kv_heads=kv_heads,
        head_dim=head_dim,
        intermediate=width,
        expert_intermediate=_read_expert_width(text_config, architecture),
        k_is_v=_has_k_as_v(text_config, architecture, kind),
        shares_kv=shares_kv,
    )


def _read_kv_heads_and_dim(
    text_config: ConfigValues, architecture: str, kind: LayerKind, heads: int
) -> tuple[int, int]:
    head_dim = text_config.read_count("head_dim", 0) or text_config.read_count("hidden_size") // heads
    kv_heads = text_config.read_count("num_key_value_heads", heads)
    if kind == "full" and architecture.startswith("gemma4"):
        head_dim = text_config.read_count("global_head_dim", GEMMA4_GLOBAL_HEAD)
        if _has_k_as_v(text_config, architecture, kind):
            kv_heads = text_config.read_count("num_global_key_value_heads", kv_heads)
    return kv_heads, head_dim


def _has_k_as_v(text_config: ConfigValues, architecture: str, kind: LayerKind) -> bool:
    is_gemma4_full = kind == "full" and architecture.startswith("gemma4")
    return is_gemma4_full and text_config.read_flag("attention_k_eq_v", default=False)


def _read_expert_width(text_config: ConfigValues, architecture: str) -> int:
    if architecture == "mixtral":
        return text_config.read_count("intermediate_size")
    if architecture == "qwen3_moe" or text_config.read_flag("enable_moe_block", default=False):
        return text_config.read_count("moe_intermediate_size")
    return 0


def _read_layer_kinds(text_config: ConfigValues, architecture: str) -> list[LayerKind]:
    count = text_config.read_count("num_hidden_layers")
    if count > MOST_LAYERS:
        raise text_config.create_error(f"{count} layers are more than any model has")
    named = text_config.read_words("layer_types")
    if named is None:
        return _derive_layer_kinds(text_config, architecture, count)
    if odd := next((name for name in named if name not in KINDS), None):
        raise text_config.create_error(f"Temper has no memory estimate for layers of type {odd!r}")
    if len(named) != count:
        raise text_config.create_error(f"its layer_types name {len(named)} layers and num_hidden_layers {count}")
    return [KINDS[name] for name in named]


def _derive_layer_kinds(text_config: ConfigValues, architecture: str, count: int) -> list[LayerKind]:
    """Derive the kinds for configs that do not list their layers: every n-th is full."""
    every = 1
    if "sliding_window" in text_config:
        if architecture.startswith(("gemma3", "gemma4")):
            every = text_config.read_count("sliding_window_pattern", 6)
        elif architecture == "gemma2":
            every = 2
        elif architecture in ALL_SLIDING:
            every = 0
    return ["full" if every and (index + 1) % every == 0 else "sliding" for index in range(count)]


def compute_dims_of_each_rotary_table(text_config: ConfigValues, layers: tuple[Layer, ...]) -> tuple[int, ...]:
    """Return the dimensions of vLLM's rotary tables: one per distinct rotation, shared by layers of one kind."""
    parameters = text_config.read_table("rope_parameters")
    dims = {layer.kind: layer.head_dim for layer in layers}
    by_kind = parameters is not None and any(name in parameters for name in KINDS)
    if parameters is None or not by_kind:
        share = (parameters or text_config).read_share("partial_rotary_factor", 1.0)
        tables = set(dims.values()) if "rope_local_base_freq" not in text_config else dims.values()
        return tuple(sorted(int(dim * share) for dim in tables))
    found = []
    for name, kind in KINDS.items():
        if kind in dims:
            own = parameters.read_table(name) or parameters
            whole = own.read_word("rope_type", "default") == "proportional"
            found.append(dims[kind] if whole else int(dims[kind] * own.read_share("partial_rotary_factor", 1.0)))
    return tuple(found)

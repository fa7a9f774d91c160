"""Line-ups: which roles sit on which engines on which GPUs. Read from TOML into these objects."""

import re
from dataclasses import dataclass, field, replace
from typing import Literal, Self

from app.events.words import Role, Sampling

Precision = Literal["bf16", "fp8", "nvfp4", "awq4", "gguf"]
_SHOWN: dict[Precision, str] = {"bf16": "bf16", "fp8": "FP8", "nvfp4": "NVFP4", "awq4": "AWQ 4-bit", "gguf": "GGUF"}

EngineKind = Literal["vllm", "llamacpp"]
"""llamacpp runs a GGUF file on the processor and needs no GPU."""


@dataclass(frozen=True)
class Gpu:
    index: int
    kind: str
    memory_gib: float
    bandwidth_gb_s: float
    unified: bool = False
    """Memory that it shares with the host, as on a GB10."""
    host: str = ""
    """The machine that it is in, as its DCGM exporter calls it; empty for this one."""
    number: int | None = None
    """Of the GPU on its own machine, in PCI order as nvidia-smi counts; `index` where it is left out."""

    @property
    def key(self) -> tuple[str, int]:
        """As samples name it."""
        return self.host, self.index if self.number is None else self.number


@dataclass(frozen=True)
class Simulation:
    """How the simulator paces an engine. The figures come from measurements named in `source`."""

    tok_s: float
    prefill_tok_s: float
    cold_load_s: float
    vram_gib_per_gpu: float
    """All that the engine holds once it is ready."""
    weights_gib_per_gpu: float
    kv_tokens: int
    source: str
    eight_tok_s: float | None = None
    """What eight requests at a time are written together. Left out, each is written as if it were alone."""

    def each(self, requests: int) -> float:
        """Of the speed that one alone has: a curve through the two points that are measured, 1 and 8."""
        if self.eight_tok_s is None or requests <= 1:
            return 1.0
        lost = (8 * self.tok_s / self.eight_tok_s - 1) / 7
        return 1 / (1 + lost * (requests - 1))


@dataclass(frozen=True)
class Launch:
    """How Temper starts the engine itself. The line-up's own fields become flags; `flags` holds the rest."""

    port: int
    """Of the first replica; the next one listens on the port after it."""
    command: tuple[str, ...] = ()
    """What the flags follow; left out, `vllm serve`, or the llama.cpp beside Temper."""
    image: str = ""
    """Where one is named, the engine runs in a container of it, and `command` is not used."""
    flags: tuple[str, ...] = ()
    env: dict[str, str] = field(default_factory=dict)

    @property
    def pinned(self) -> bool:
        """A tag is whatever was published last; a digest is one image for good."""
        return bool(re.search(r"@sha256:[0-9a-f]{64}\Z", self.image))


@dataclass(frozen=True)
class Speculation:
    """Drafted tokens that the model then accepts or not: vLLM's --speculative-config."""

    method: str
    """mtp, eagle3, dflash; empty where the line-up leaves it out."""
    model: str
    tokens: int
    """num_speculative_tokens."""
    parallel_drafting: bool = False
    weights_gib: float = 0.0
    """What the drafter itself holds."""
    acceptance: float | None = None
    """Mean acceptance length to reckon with."""
    source: str = ""
    """Where `acceptance` and `weights_gib` come from."""


@dataclass(frozen=True)
class Reported:
    """What others measured or claimed of this engine, to hold plan and probe against."""

    source: str
    tok_s: float | None = None
    weights_gib_per_gpu: float | None = None
    vram_gib_per_gpu: float | None = None
    kv_tokens: int | None = None
    cold_load_s: float | None = None


@dataclass(frozen=True)
class Engine:
    name: str
    title: str
    model: str
    """A name that a hub knows, or the path of a folder with config.json; for llamacpp `smollm2` or a GGUF file."""
    precision: Precision
    gpus: tuple[int, ...]
    """None for llamacpp."""
    tp: int
    max_model_len: int
    kind: EngineKind = "vllm"
    pp: int = 1
    served_name: str = ""
    """What requests call the model; `model` where it is left out."""
    base_urls: tuple[str, ...] = ()
    """One per replica, ending in /v1: an engine that somebody else starts."""
    metrics_urls: tuple[str, ...] = ()
    """Where they are not /metrics beside the base URLs."""
    api_key_env: str = ""
    """The environment variable that holds the key of the base URLs."""
    launch: Launch | None = None
    simulation: Simulation | None = None
    vllm: str = ""
    """The version that it runs or is meant to run."""
    utilization: float | None = None
    """--gpu-memory-utilization; vLLM's own default where it is left out."""
    kv_dtype: str = "auto"
    kv_cache_bytes: int | None = None
    """--kv-cache-memory-bytes, which overrides utilization."""
    max_num_seqs: int | None = None
    max_num_batched_tokens: int | None = None
    text_only: bool = False
    """The vision and audio towers are not loaded."""
    eager: bool = False
    """--enforce-eager: no CUDA graphs."""
    chat_template: str = ""
    chat_template_sha256: str = ""
    speculation: Speculation | None = None
    limit_tok_s: float | None = None
    limit_source: str = ""
    reported: Reported | None = None

    @property
    def wire_name(self) -> str:
        return self.served_name or self.model

    @property
    def precision_shown(self) -> str:
        return _SHOWN[self.precision]

    @property
    def gpus_per_replica(self) -> int:
        return self.tp * self.pp

    @property
    def on_cpu(self) -> bool:
        return self.kind == "llamacpp"

    @property
    def program(self) -> str:
        """What its versions are of."""
        return "xllamacpp" if self.on_cpu else "vLLM"

    @property
    def runs_on(self) -> str:
        return "CPU" if self.on_cpu else f"GPU {' + '.join(map(str, self.gpus))}"

    @property
    def replicas(self) -> tuple[tuple[int, ...], ...]:
        """The GPUs of each replica."""
        if self.on_cpu:
            return ((),) * max(1, len(self.base_urls))
        step = self.gpus_per_replica
        return tuple(self.gpus[n : n + step] for n in range(0, len(self.gpus), step))

    @property
    def addresses(self) -> tuple[str, ...]:
        """One base URL per replica, where they are known without starting anything."""
        if self.launch is None:
            return self.base_urls
        return tuple(f"http://127.0.0.1:{self.launch.port + n}/v1" for n in range(len(self.replicas)))

    def attached(self) -> Self:
        return replace(self, launch=None, base_urls=self.addresses)


@dataclass(frozen=True)
class Seat:
    role: Role
    engine: str
    temperature: float
    max_tokens: int
    top_p: float | None = None
    top_k: int | None = None
    min_p: float | None = None
    thinking: bool = True
    thinking_tokens: int | None = None
    """What a thought may take of `max_tokens`, where the engine knows how to end one."""
    guided: bool = False
    """For small models: keys, values and lines are chosen from what the rule and its files say."""

    @property
    def sampling(self) -> Sampling:
        names = ("top_p", "top_k", "min_p", "thinking", "thinking_tokens", "guided")
        return Sampling(**{name: getattr(self, name) for name in names})


@dataclass(frozen=True)
class Lineup:
    name: str
    title: str
    note: str
    gpus: tuple[Gpu, ...]
    engines: dict[str, Engine]
    seats: dict[Role, Seat]
    dcgm_urls: tuple[str, ...] = ()
    """DCGM exporters of the machines whose GPUs are not in this one."""

    def attached(self) -> Self:
        """The same, where systemd or compose has started what it would launch."""
        return replace(self, engines={name: engine.attached() for name, engine in self.engines.items()})

    @property
    def simulated(self) -> bool:
        return any(engine.simulation for engine in self.engines.values())

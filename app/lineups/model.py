"""Line-ups: the engine of each role and the GPUs of each engine."""

import re
from dataclasses import dataclass, field, replace
from typing import Literal, Self

import msgspec

from app.events.event_field_types import Role, Sampling

Precision = Literal["bf16", "fp8", "nvfp4", "awq4", "gguf", "unstated"]
SchemaForm = Literal["json_schema", "json_object"]
"""The type of response_format that carries a JSON Schema: OpenAI's, or the older one of llama-cpp-python and others."""
_SHOWN: dict[Precision, str] = {
    "bf16": "bf16",
    "fp8": "FP8",
    "nvfp4": "NVFP4",
    "awq4": "AWQ 4-bit",
    "gguf": "GGUF",
    "unstated": "precision not stated",
}

PLAYED = "temper.simulated"
"""Part of the version that the simulator shows of itself."""
CandidatesFor = Literal["architect", "none"]
"""Who is shown what the content and recipes propose for a rule."""
EngineKind = Literal["vllm", "llamacpp", "openai"]
"""llamacpp runs a GGUF file on the CPU and needs no GPU. openai is any server with that API, which Temper never starts:
of its GPUs nothing is known."""


@dataclass(frozen=True)
class Gpu:
    index: int
    kind: str
    memory_gib: float
    bandwidth_gb_s: float
    unified: bool = False
    """Whether it shares memory with the host, as on a GB10."""
    host: str = ""
    """Name of its machine in the DCGM exporter; empty for this machine."""
    number: int | None = None
    """Number of the GPU on its own machine, in nvidia-smi's PCI order; `index` if None."""

    @property
    def key(self) -> tuple[str, int]:
        """Return the host and number that samples use for this GPU."""
        return self.host, self.index if self.number is None else self.number


@dataclass(frozen=True)
class Simulation:
    """Figures by which the simulator paces an engine, from measurements named in `source`."""

    tok_s: float
    prefill_tok_s: float
    cold_load_s: float
    vram_gib_per_gpu: float
    """Total memory of the ready engine."""
    weights_gib_per_gpu: float
    kv_tokens: int
    source: str
    eight_tok_s: float | None = None
    """Total rate of eight concurrent requests. If None, concurrent requests do not slow each other down."""

    def compute_relative_speed(self, requests: int) -> float:
        """Return the speed of each request relative to a single one, on a curve through the points at 1 and 8."""
        if self.eight_tok_s is None or requests <= 1:
            return 1.0
        lost = (8 * self.tok_s / self.eight_tok_s - 1) / 7
        return 1 / (1 + lost * (requests - 1))


@dataclass(frozen=True)
class Launch:
    """How Temper starts the engine. Fields of the line-up become flags; `flags` holds further ones."""

    port: int
    """Port of the first replica; each further one uses the next port."""
    command: tuple[str, ...] = ()
    """Command before the flags; the default is `vllm serve` or the bundled llama.cpp."""
    image: str = ""
    """Container image. If set, the engine runs in a container and `command` is not used."""
    flags: tuple[str, ...] = ()
    env: dict[str, str] = field(default_factory=dict)

    @property
    def has_image_digest(self) -> bool:
        """Return True if the image is given by digest. A tag can change."""
        return bool(re.search(r"@sha256:[0-9a-f]{64}\Z", self.image))


@dataclass(frozen=True)
class Speculation:
    """Speculative decoding: vLLM's --speculative-config."""

    method: str
    """mtp, eagle3 or dflash; empty if the line-up does not set it."""
    model: str
    tokens: int
    """num_speculative_tokens."""
    parallel_drafting: bool = False
    weights_gib: float = 0.0
    """Memory of the draft model."""
    acceptance: float | None = None
    """Mean acceptance length for estimates."""
    source: str = ""
    """Source of `acceptance` and `weights_gib`."""


@dataclass(frozen=True)
class Reported:
    """Figures of this engine published by others, to compare with plan and probe."""

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
    """Model name on a hub, or a folder with config.json; for llamacpp `smollm2` or a GGUF file."""
    precision: Precision
    gpus: tuple[int, ...]
    """Empty for llamacpp."""
    tp: int
    max_model_len: int
    kind: EngineKind = "vllm"
    pp: int = 1
    served_name: str = ""
    """Model name in requests; `model` if empty."""
    base_urls: tuple[str, ...] = ()
    """URLs of an engine that Temper does not start, one per replica, ending in /v1."""
    metrics_urls: tuple[str, ...] = ()
    """Set if the metrics are not at /metrics of the base URLs."""
    api_key_env: str = ""
    """Environment variable with the API key of the base URLs."""
    program: str = ""
    """Kind openai: the server's program, as it reported itself."""
    structured: bool = True
    """False if the server binds no answer to a JSON Schema: answers are then asked for by an example alone."""
    schema_form: SchemaForm = "json_schema"
    launch: Launch | None = None
    simulation: Simulation | None = None
    vllm: str = ""
    """Version that the engine runs or should run."""
    utilization: float | None = None
    """--gpu-memory-utilization; None means vLLM's default."""
    kv_dtype: str = "auto"
    kv_cache_bytes: int | None = None
    """--kv-cache-memory-bytes, which overrides utilization."""
    max_num_seqs: int | None = None
    max_num_batched_tokens: int | None = None
    text_only: bool = False
    """Do not load the vision and audio towers."""
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
    def precision_label(self) -> str:
        return _SHOWN[self.precision]

    @property
    def gpus_per_replica(self) -> int:
        return self.tp * self.pp

    @property
    def is_on_cpu(self) -> bool:
        return self.kind == "llamacpp"

    @property
    def is_endpoint(self) -> bool:
        """Return True for somebody's server of which only the API is known."""
        return self.kind == "openai"

    @property
    def program_name(self) -> str:
        if self.is_endpoint:
            return self.program or "an OpenAI-compatible server"
        return "xllamacpp" if self.is_on_cpu else "vLLM"

    @property
    def hardware_label(self) -> str:
        if self.is_endpoint:
            return self.base_urls[0].split("/")[2] if self.base_urls else "endpoint"
        return "CPU" if self.is_on_cpu else f"GPU {' + '.join(map(str, self.gpus))}"

    @property
    def replicas(self) -> tuple[tuple[int, ...], ...]:
        """Return the GPUs of each replica; empty ones without GPUs."""
        if not self.gpus:
            return ((),) * max(1, len(self.base_urls))
        step = self.gpus_per_replica
        return tuple(self.gpus[n : n + step] for n in range(0, len(self.gpus), step))

    @property
    def addresses(self) -> tuple[str, ...]:
        """Return one base URL per replica, if known before a start."""
        if self.launch is None:
            return self.base_urls
        return tuple(f"http://127.0.0.1:{self.launch.port + n}/v1" for n in range(len(self.replicas)))

    def to_attached(self) -> Self:
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
    """Maximum thinking tokens within `max_tokens`, if the engine can end a thought."""
    guided: bool = False
    """For small models: choose keys, values and lines from those in the rule and its files."""

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
    """DCGM exporters of other machines' GPUs."""
    candidates: CandidatesFor | None = None
    """None: `none` if the Architect is guided, since small models were trained without, else `architect`."""

    questions: bool | None = None
    """Whether the Architect may ask about a host before it plans. None: true unless it is guided."""

    @property
    def asks_host_questions(self) -> bool:
        return not self.seats["architect"].guided if self.questions is None else self.questions

    @property
    def shows_candidates(self) -> bool:
        """Return whether the Architect may take a candidate, and the Worker sees them."""
        return not self.seats["architect"].guided if self.candidates is None else self.candidates == "architect"

    def get_sampling(self, role: Role) -> Sampling:
        """Return the role's sampling, with what the line-up says of its prompts."""
        asks = role == "architect" and self.asks_host_questions
        return msgspec.structs.replace(self.seats[role].sampling, candidates=self.shows_candidates, questions=asks)

    def to_attached(self) -> Self:
        """Return the line-up with launched engines as external ones, started by systemd or compose."""
        return replace(self, engines={name: engine.to_attached() for name, engine in self.engines.items()})

    @property
    def simulated(self) -> bool:
        """Return True if a script plays an engine, also one at an address that says so of itself."""
        return any(engine.simulation or PLAYED in engine.program for engine in self.engines.values())

"""Line-ups: which roles sit on which engines on which GPUs. Read from TOML into these objects."""

from dataclasses import dataclass

from app.events.words import Role


@dataclass(frozen=True)
class Gpu:
    index: int
    kind: str
    memory_gib: float
    bandwidth_gb_s: float


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


@dataclass(frozen=True)
class Engine:
    name: str
    title: str
    model: str
    precision: str
    gpus: tuple[int, ...]
    tp: int
    max_model_len: int
    base_urls: tuple[str, ...]
    """One per replica, ending in /v1; empty for a simulated engine until the simulator names its ports."""
    limit_tok_s: float | None
    limit_source: str
    simulation: Simulation | None


@dataclass(frozen=True)
class Seat:
    role: Role
    engine: str
    temperature: float
    max_tokens: int


@dataclass(frozen=True)
class Lineup:
    name: str
    title: str
    note: str
    gpus: tuple[Gpu, ...]
    engines: dict[str, Engine]
    seats: dict[Role, Seat]

    @property
    def simulated(self) -> bool:
        return any(engine.simulation for engine in self.engines.values())

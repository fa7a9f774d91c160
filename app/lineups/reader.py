"""Read a line-up from TOML. Each error is one sentence with its line number."""

import dataclasses
import math
from collections.abc import Iterable
from pathlib import Path
from types import UnionType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

import msgspec

from app.errors import BadLineup
from app.events.event_field_types import Role
from app.lineups.model import CandidatesFor, Engine, EngineKind, Gpu, Lineup, Precision, SchemaForm, Seat
from app.lineups.toml_reader import Table, TomlReader, format_suggestion_or_choices

LINEUPS = Path(__file__).parent

_WORDS: dict[Any, str] = {
    str: "a string in quotes",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    Precision: f"one of {', '.join(get_args(Precision))}",
    EngineKind: f"one of {', '.join(get_args(EngineKind))}",
    SchemaForm: f"one of {', '.join(get_args(SchemaForm))}",
    CandidatesFor: f"one of {', '.join(get_args(CandidatesFor))}",
    tuple[int, ...]: "a list of whole numbers, like [0, 1]",
    tuple[str, ...]: "a list of strings in quotes",
    dict[str, str]: 'a table of strings, like {NAME = "value"}',
}
_MAY_BE_ZERO = ("index", "number", "temperature", "weights_gib")
_STARTED = ("base_urls", "launch", "simulation")

T = TypeVar("T")


def require_lineup_path(name_or_path: str) -> Path:
    """Return the path of a shipped line-up or of a file. A slash or .toml marks a path. Raise BadLineup if missing."""
    if "/" in name_or_path or name_or_path.endswith(".toml"):
        if not (path := Path(name_or_path)).is_file():
            raise BadLineup(f"{path} does not exist: give the path of a line-up file, or a name from {LINEUPS}.")
        return path
    if name_or_path not in (names := list_shipped_lineup_names()):
        raise BadLineup(f"No line-up is called {name_or_path!r}: {format_suggestion_or_choices(name_or_path, names)}.")
    return LINEUPS / f"{name_or_path}.toml"


def list_shipped_lineup_names() -> list[str]:
    return sorted(path.stem for path in LINEUPS.glob("*.toml"))


def read_lineup(path: Path) -> Lineup:
    try:
        content = path.read_bytes()
    except OSError as exc:
        raise BadLineup(f"cannot read {path}: {exc.strerror}.") from exc
    return _LineupReader(path, content).build_lineup()


class _LineupReader(TomlReader):
    error = BadLineup

    def build_lineup(self) -> Lineup:
        document = self.document
        self.check_keys((), document, [field.name for field in dataclasses.fields(Lineup) if field.name != "name"])
        if "title" not in document:
            self.reject((), "", f"title is missing: add title = {_WORDS[str]}")
        gpus = self._read_gpus(document)
        tables = self._iterate_named_subtables(document, "engines")
        engines = {name: self._read_engine(("engines", name), table, gpus) for name, table in tables}
        seats = {seat.role: seat for seat in self._read_seats(document, engines)}
        return Lineup(
            name=self.path.stem,
            title=self._read_value((), document, "title", str),
            note=self._read_value((), {"note": "", **document}, "note", str),
            gpus=gpus,
            engines=engines,
            seats=seats,
            dcgm_urls=self._read_value((), {"dcgm_urls": [], **document}, "dcgm_urls", tuple[str, ...]),
            candidates=self._read_optional_value(document, "candidates", CandidatesFor),
            questions=self._read_optional_value(document, "questions", bool),
        )

    def _read_optional_value(self, document: dict[str, Any], key: str, wanted_type: Any) -> Any:
        return self._read_value((), document, key, wanted_type) if key in document else None

    def _read_gpus(self, document: dict[str, Any]) -> tuple[Gpu, ...]:
        tables = document.get("gpus", [] if _needs_no_gpu(document) else None)
        if not isinstance(tables, list) or not (tables or _needs_no_gpu(document)):
            self.reject((), "gpus", "the line-up needs its GPUs, each as a [[gpus]] table")
        gpus = tuple(self._fill_dataclass(Gpu, ("gpus", str(n)), table) for n, table in enumerate(tables))
        for n, gpu in enumerate(gpus):
            if gpu.index in [earlier.index for earlier in gpus[:n]]:
                self.reject(("gpus", str(n)), "index", f"GPU {gpu.index} is listed twice: give each its own index")
        return gpus

    def _read_engine(self, table_path: Table, table: dict[str, Any], gpus: tuple[Gpu, ...]) -> Engine:
        table = _WITHOUT_GPUS.get(table.get("kind", ""), {}) | table
        engine = self._fill_dataclass(Engine, table_path, table, name=table_path[-1])
        if engine.is_endpoint:
            self._check_endpoint(table_path, engine)
        elif engine.is_on_cpu:
            self._check_cpu_engine(table_path, engine)
        else:
            self._check_gpus(table_path, engine, [gpu.index for gpu in gpus])
        self._check_single_start_method_and_urls(table_path, engine)
        if engine.utilization is not None and engine.utilization > 1:
            self.reject(table_path, "utilization", "utilization is a share of the GPU's memory: at most 1")
        if engine.limit_tok_s is not None and not engine.limit_source:
            self.reject(table_path, "limit_tok_s", "a limit needs limit_source, the arithmetic it comes from")
        return engine

    def _check_gpus(self, table_path: Table, engine: Engine, known: list[int]) -> None:
        for index in engine.gpus:
            if index not in known:
                have = ", ".join(map(str, known))
                self.reject(table_path, "gpus", f"there is no GPU {index}: the line-up has {have}")
        if len(set(engine.gpus)) < len(engine.gpus):
            self.reject(table_path, "gpus", "a GPU is listed twice: list each once")
        if not engine.gpus or len(engine.gpus) % engine.gpus_per_replica:
            asked = f"tp = {engine.tp}" + (f" times pp = {engine.pp}" if engine.pp > 1 else "")
            self.reject(table_path, "tp", f"{asked} does not divide the engine's {len(engine.gpus)} GPUs")

    def _check_cpu_engine(self, table_path: Table, engine: Engine) -> None:
        if engine.gpus:
            self.reject(table_path, "gpus", "a llamacpp engine runs on the CPU: leave gpus out")
        if engine.launch and engine.launch.image:
            launch_path = (*table_path, "launch")
            self.reject(launch_path, "image", "Temper starts a llamacpp engine beside itself: leave image out")

    def _check_endpoint(self, table_path: Table, engine: Engine) -> None:
        if engine.gpus:
            self.reject(table_path, "gpus", "of a server that Temper does not start no GPUs are known: leave gpus out")
        if not engine.base_urls:
            self.reject(table_path, "", "an engine of kind openai runs already: give its base_urls")

    def _check_single_start_method_and_urls(self, table_path: Table, engine: Engine) -> None:
        given = [name for name in _STARTED if getattr(engine, name)]
        if len(given) != 1:
            ways = "base_urls (it runs already), [launch] (Temper starts it) and [simulation]"
            self.reject(table_path, given[-1] if given else "", f"an engine needs one of {ways}")
        for url in engine.base_urls:
            if not (url.startswith(("http://", "https://")) and url.endswith("/v1")):
                self.reject(table_path, "base_urls", f"{url!r} should start with http:// or https:// and end in /v1")
        for url in engine.metrics_urls:
            if not url.startswith(("http://", "https://")):
                self.reject(table_path, "metrics_urls", f"{url!r} should begin with http:// or https://")

    def _read_seats(self, document: dict[str, Any], engines: dict[str, Engine]) -> Iterable[Seat]:
        tables = dict(self._iterate_named_subtables(document, "seats"))
        self.check_keys(("seats",), tables, get_args(Role))
        for role in get_args(Role):
            if role not in tables:
                self.reject(("seats",), "", f"the {role} has no seat: add [seats.{role}]")
            at = ("seats", role)
            seat = self._fill_dataclass(Seat, at, tables[role], role=role)
            if seat.engine not in engines:
                suggestion = format_suggestion_or_choices(seat.engine, sorted(engines))
                self.reject(at, "engine", f"no engine is called {seat.engine!r}: {suggestion}")
            if seat.max_tokens >= (length := engines[seat.engine].max_model_len):
                self.reject(at, "max_tokens", f"{seat.engine} holds {length} tokens with the prompt: ask for fewer")
            yield seat

    def _iterate_named_subtables(
        self, document: dict[str, Any], table_name: str
    ) -> Iterable[tuple[str, dict[str, Any]]]:
        tables = document.get(table_name)
        if not isinstance(tables, dict) or not tables:
            self.reject((), table_name, f"the line-up needs its {table_name}, each as a [{table_name}.NAME] table")
        for key, table in tables.items():
            if not isinstance(table, dict):
                self.reject((table_name,), key, f"{key} should be a table: [{table_name}.{key}]")
            yield key, table

    def _fill_dataclass(self, kind: type[T], table_path: Table, table: object, **given: Any) -> T:
        if not isinstance(table, dict):
            self.reject(table_path, "", f"{table_path[-1]} should be a table with keys of its own")
        hints = {name: hint for name, hint in get_type_hints(kind).items() if name not in given}
        self.check_keys(table_path, table, hints)
        values = {name: self._read_value(table_path, table, name, hints[name]) for name in hints if name in table}
        for name in hints:
            if name not in values and not _has_default(kind, name):
                self.reject(table_path, "", f"{name} is missing: add {name} = {_WORDS[hints[name]]}")
        return kind(**values, **given)

    def _read_value(self, table_path: Table, table: dict[str, Any], key: str, wanted_type: Any) -> Any:
        kind = _unwrap_optional(wanted_type)
        if isinstance(kind, type) and dataclasses.is_dataclass(kind):
            return self._fill_dataclass(kind, (*table_path, key), table[key])
        try:
            value = msgspec.convert(table[key], type=kind)
        except msgspec.ValidationError:
            self.reject(table_path, key, f"{key} should be {_WORDS[kind]}")
        if isinstance(value, int | float) and not isinstance(value, bool) and not _is_in_range(key, value):
            self.reject(table_path, key, f"{key} should be {'0 or more' if key in _MAY_BE_ZERO else 'more than 0'}")
        return value


_WITHOUT_GPUS: dict[str, dict[str, Any]] = {
    "llamacpp": {"gpus": [], "tp": 1, "precision": "gguf"},
    "openai": {"gpus": [], "tp": 1, "precision": "unstated"},
}
"""Defaults of the kinds of engines without GPUs of ours."""


def _is_kind_without_gpus(engine: object) -> bool:
    return isinstance(engine, dict) and engine.get("kind") in _WITHOUT_GPUS


def _needs_no_gpu(document: dict[str, Any]) -> bool:
    engines = document.get("engines")
    return isinstance(engines, dict) and bool(engines) and all(map(_is_kind_without_gpus, engines.values()))


def _unwrap_optional(hint: Any) -> Any:
    if get_origin(hint) is UnionType:
        return next(kind for kind in get_args(hint) if kind is not type(None))
    return hint


def _has_default(kind: Any, name: str) -> bool:
    found = {field.name: field for field in dataclasses.fields(kind)}[name]
    return found.default is not dataclasses.MISSING or found.default_factory is not dataclasses.MISSING


def _is_in_range(key: str, number: float) -> bool:
    return math.isfinite(number) and (number > 0 or (number == 0 and key in _MAY_BE_ZERO))

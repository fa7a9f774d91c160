"""Render a line-up's engines as systemd units or as one compose file, from the templates in units/."""

import json
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from app.engines.launch.launch_command import build_launch_command, build_serve_arguments, format_container_name
from app.errors import BadInput
from app.lineups.model import Engine, Lineup

HOME = "/var/lib/temper"
KEY_FILE = "/etc/temper/engine.env"
PYTHON = "/opt/temper/.venv/bin/python"
PATHS = "/opt/vllm/bin:/usr/local/bin:/usr/bin:/bin"
END_SECONDS = 40
SEE_THROUGH_SECONDS = 90


def render_systemd_units(lineup: Lineup, lineup_reference: str, addresses: Sequence[str] = ()) -> dict[str, str]:
    """Return units by file name: one per replica, Temper itself and a target for all.

    `lineup_reference` is the name or path of the line-up. With `addresses`, Temper is started with --engine instead,
    and asks the servers at each start."""
    units = {
        f"{format_container_name(engine, number)}.service": _render_engine_unit(
            lineup, lineup_reference, engine, number
        )
        for engine, number in _iterate_launched_replicas(lineup)
    }
    names = list(units)
    for name in ("temper.service", "temper.target"):
        units[name] = _render_launch_file(name, lineup, lineup_reference, "systemd", addresses, engines=names)
    return units


def _render_engine_unit(lineup: Lineup, lineup_reference: str, engine: Engine, number: int) -> str:
    words = build_launch_command(engine, number, python=PYTHON)
    argv = words.argv if "/" in words.argv[0] else ("/usr/bin/env", *words.argv)
    env = [("PATH", PATHS), ("HF_HOME", f"{HOME}/models"), *words.env.items()]
    placement = f"GPUs {', '.join(map(str, words.gpus))}" if words.gpus else "on the CPU"
    values = {"engine": engine, "argv": argv, "env": env, "placement": placement}
    return _render_launch_file("engine.service", lineup, lineup_reference, "systemd", (), **values)


@dataclass(frozen=True)
class _ComposeService:
    name: str
    image: str
    build: str
    """Version of vLLM that its image is built with; empty if the line-up names an image."""
    command: tuple[str, ...]
    env: dict[str, str]
    gpus: list[str]

    @property
    def vllm_version_as_variable_name_part(self) -> str:
        return "".join(one if one.isalnum() else "_" for one in self.build)


def render_compose_file(lineup: Lineup, lineup_reference: str, addresses: Sequence[str] = ()) -> str:
    services = [_create_service(engine, number) for engine, number in _iterate_launched_replicas(lineup)]
    return _render_launch_file("compose.yaml", lineup, lineup_reference, "compose", addresses, services=services)


def _create_service(engine: Engine, number: int) -> _ComposeService:
    assert engine.launch
    image = engine.launch.image
    if engine.is_on_cpu:
        raise BadInput(f"{engine.name} runs on the processor, beside Temper, and has no image: print systemd units.")
    if image and not engine.launch.has_image_digest:
        raise BadInput(
            f"{engine.name} names the image {image} by a tag: name it by its digest in the line-up, {image}@sha256:…, "
            "as docker image inspect shows it."
        )
    words = build_launch_command(engine, number)
    env = {"HF_HOME": "/models", **words.env}
    env.pop("CUDA_VISIBLE_DEVICES", None)
    return _ComposeService(
        name=format_container_name(engine, number).removeprefix("temper-"),
        image=image or f"temper-vllm:{engine.vllm}",
        build="" if image else engine.vllm,
        command=build_serve_arguments(engine, words.port),
        env=env,
        gpus=[str(gpu) for gpu in words.gpus],
    )


def _iterate_launched_replicas(lineup: Lineup) -> Iterator[tuple[Engine, int]]:
    for engine in lineup.engines.values():
        if engine.launch:
            for number in range(len(engine.replicas)):
                yield engine, number


def _render_launch_file(
    template: str, lineup: Lineup, lineup_reference: str, print_format: str, addresses: Sequence[str], **values: Any
) -> str:
    words = tuple(word for one in addresses for word in ("--engine", one))
    asked = shlex.join(words) if words else lineup_reference
    change = "Change the addresses" if words else "Change the line-up"
    made = f"# Made by `temper up {asked} --print {print_format}`. {change} and make it again."
    choice = words or ("--lineup", lineup_reference)
    values |= {"made": made, "lineup": lineup, "called": lineup_reference, "choice": choice, "addresses": addresses}
    return _create_environment().get_template(template).render(values)


@cache
def _create_environment() -> Environment:
    made = Environment(  # noqa: S701  no HTML: the filters quote for systemd and YAML
        loader=FileSystemLoader(Path(__file__).parent / "units"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters |= {"systemd": _quote_systemd, "yaml": _quote_compose_yaml, "json": json.dumps}
    made.globals |= {"home": HOME, "key_file": KEY_FILE}
    made.globals |= {"end_seconds": END_SECONDS, "see_through_seconds": SEE_THROUGH_SECONDS}
    return made


def _quote_compose_yaml(text: str) -> str:
    """Quote for YAML and compose, where a dollar starts a variable."""
    return json.dumps(text, ensure_ascii=False).replace("$", "$$")


def _quote_systemd(word: str, dollar_replacement: str = "$$") -> str:
    """Quote for systemd, where percent starts a specifier and, in a command, a dollar starts a variable."""
    plain = word.replace("%", "%%").replace("$", dollar_replacement)
    if plain and not set(plain) & set(" \t\"'\\;"):
        return plain
    escaped = plain.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'

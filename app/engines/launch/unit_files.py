"""Render a line-up's engines as systemd units or as one compose file. Pure."""

import json
from collections.abc import Iterator

from app.engines.launch.launch_command import build_launch_command, build_serve_arguments, format_container_name
from app.errors import BadInput
from app.lineups.model import Engine, Lineup

HOME = "/var/lib/temper"
MODELS = f"{HOME}/models"
PROGRAM = "/opt/temper/.venv/bin/temper"
PYTHON = "/opt/temper/.venv/bin/python"
VLLM = "/opt/vllm/bin"
END_SECONDS = 40
SEE_THROUGH_SECONDS = 90
OPEN_FILES = 65536
_MADE = "# Made by `temper up {name} --print {kind}`. Change the line-up and make it again."


def render_systemd_units(lineup: Lineup, called: str) -> dict[str, str]:
    """Return units by file name: one per replica, Temper itself and a target for all.

    `called` is the name or path of the line-up."""
    made = _MADE.format(name=called, kind="systemd")
    replicas = list(_iterate_replicas(lineup))
    names = [f"{format_container_name(engine, number)}.service" for engine, number in replicas]
    units = {name: _render_engine_unit(made, *which) for name, which in zip(names, replicas, strict=True)}
    units["temper.service"] = _render_temper_unit(made, called, names)
    units["temper.target"] = _join_lines(
        made,
        "[Unit]",
        f"Description=Temper and its engines: {lineup.title}",
        f"Wants=temper.service {' '.join(names)}",
        "",
        "[Install]",
        "WantedBy=multi-user.target",
    )
    return units


def _render_engine_unit(made: str, engine: Engine, replica: int) -> str:
    words = build_launch_command(engine, replica, python=PYTHON)
    argv = ("/usr/bin/env", *words.argv) if "/" not in words.argv[0] else words.argv
    return _join_lines(
        made,
        "[Unit]",
        f"Description={engine.title}, {_describe_placement(words.gpus)}",
        "After=network.target",
        "PartOf=temper.target",
        "",
        "[Service]",
        "Type=exec",
        "User=temper",
        _render_environment("PATH", f"{VLLM}:/usr/local/bin:/usr/bin:/bin"),
        _render_environment("HF_HOME", MODELS),
        *(_render_environment(name, value) for name, value in words.env.items()),
        f"ExecStart={' '.join(_quote_systemd(word) for word in argv)}",
        "# An engine that crashes is set up wrongly: starting it again hides that.",
        "Restart=no",
        "KillMode=control-group",
        "UMask=0077",
        f"TimeoutStopSec={END_SECONDS}",
        "",
        "[Install]",
        "WantedBy=temper.target",
    )


def _describe_placement(gpus: tuple[int, ...]) -> str:
    return f"GPUs {', '.join(map(str, gpus))}" if gpus else "on the CPU"


def _render_temper_unit(made: str, called: str, engines: list[str]) -> str:
    return _join_lines(
        made,
        "[Unit]",
        f"Description=Temper, line-up {called}",
        f"After=network.target {' '.join(engines)}",
        "PartOf=temper.target",
        "",
        "[Service]",
        "Type=exec",
        "User=temper",
        f"ExecStart={PROGRAM} serve --attach --sign-in --lineup {_quote_systemd(called)} --data {HOME}/data",
        "Restart=on-failure",
        "RestartSec=5",
        "# What touches a host is seen through first.",
        "KillMode=mixed",
        f"TimeoutStopSec={SEE_THROUGH_SECONDS}",
        "# A file for each viewer, and some for all else.",
        f"LimitNOFILE={OPEN_FILES}",
        "NoNewPrivileges=yes",
        "ProtectSystem=strict",
        f"ReadWritePaths={HOME}",
        "PrivateTmp=yes",
        "UMask=0077",
        "",
        "[Install]",
        "WantedBy=temper.target",
    )


def render_compose_file(lineup: Lineup, called: str) -> str:
    for engine in lineup.engines.values():
        if engine.launch and engine.is_on_cpu:
            raise BadInput(
                f"{engine.name} runs on the processor, beside Temper, and has no image: print systemd units."
            )
        if engine.launch and engine.launch.image and not engine.launch.is_pinned:
            raise BadInput(
                f"{engine.name} names the image {engine.launch.image} by a tag: name it by its digest in the line-up, "
                f"{engine.launch.image}@sha256:…, as docker image inspect shows it."
            )
    made = _MADE.format(name=called, kind="compose")
    python = _render_digest_variable("TEMPER_PYTHON_SHA256", "python:3.11-slim-bookworm")
    lines = [made, f"name: {json.dumps(f'temper-{lineup.name}')}", "services:"]
    for engine, number in _iterate_replicas(lineup):
        lines += _render_service(engine, number)
    lines += [
        "  temper:",
        '    image: "temper"',
        f'    build: {{context: "..", dockerfile: "deploy/temper/Dockerfile", args: {{PYTHON_SHA256: {python}}}}}',
        f"    command: {_render_flow_list(('serve', '--attach', '--sign-in', '--lineup', called, '--data', '/data'))}",
        '    network_mode: "host"',
        "    # With the machine's own process ids, memory of a GPU can be told to its engine.",
        '    pid: "host"',
        '    volumes: ["data:/data"]',
        *_render_gpu_reservation("all"),
        '    restart: "on-failure"',
        "    # What touches a host is seen through first.",
        f'    stop_grace_period: "{SEE_THROUGH_SECONDS}s"',
        "volumes:",
        "  data: {}",
    ]
    return "\n".join(lines) + "\n"


def _render_service(engine: Engine, replica: int) -> Iterator[str]:
    words = build_launch_command(engine, replica)
    assert engine.launch
    env = {"HF_HOME": "/models"} | {name: value for name, value in words.env.items() if name != "CUDA_VISIBLE_DEVICES"}
    yield f"  {format_container_name(engine, replica).removeprefix('temper-')}:"
    yield f"    image: {json.dumps(engine.launch.image or f'temper-vllm:{engine.vllm}')}"
    if not engine.launch.image:
        plain = "".join(one if one.isalnum() else "_" for one in engine.vllm)
        sha256 = _render_digest_variable(f"TEMPER_VLLM_{plain}_SHA256", f"vllm/vllm-openai:v{engine.vllm}")
        yield f'    build: {{context: "vllm", args: {{VLLM: {json.dumps(engine.vllm)}, VLLM_SHA256: {sha256}}}}}'
    yield f"    command: {_render_flow_list(build_serve_arguments(engine, words.port))}"
    yield "    environment:"
    for name, value in env.items():
        yield f"      {name}: {_quote_yaml(value)}"
    yield '    network_mode: "host"'
    yield '    ipc: "host"'
    yield '    volumes: ["${TEMPER_MODELS:-./models}:/models:ro", "/etc/temper:/etc/temper:ro"]'
    yield from _render_gpu_reservation(list(map(str, words.gpus)))
    yield "    # An engine that crashes is set up wrongly: starting it again hides that."
    yield '    restart: "no"'
    yield f'    stop_grace_period: "{END_SECONDS}s"'


def _render_digest_variable(variable: str, image: str) -> str:
    """Return a required variable for the image's digest: compose stops with a message if it is not set."""
    return json.dumps(f"${{{variable}:?set it to the 64 hexadecimal digits of the digest of {image}}}")


def _render_gpu_reservation(which: list[str] | str) -> Iterator[str]:
    chosen = 'count: "all"' if which == "all" else f"device_ids: {json.dumps(which)}"
    device = f'{{driver: "nvidia", {chosen}, capabilities: ["gpu"]}}'
    yield f"    deploy: {{resources: {{reservations: {{devices: [{device}]}}}}}}"


def _iterate_replicas(lineup: Lineup) -> Iterator[tuple[Engine, int]]:
    for engine in lineup.engines.values():
        if engine.launch:
            for number in range(len(engine.replicas)):
                yield engine, number


def _render_flow_list(words: tuple[str, ...]) -> str:
    return f"[{', '.join(_quote_yaml(word) for word in words)}]"


def _quote_yaml(text: str) -> str:
    """Quote for YAML and compose, where a dollar starts a variable."""
    return json.dumps(text, ensure_ascii=False).replace("$", "$$")


def _render_environment(name: str, value: str) -> str:
    return f"Environment={_quote_systemd(f'{name}={value}', dollar='$')}"


def _quote_systemd(word: str, dollar: str = "$$") -> str:
    """Quote for systemd, where percent starts a specifier and, in a command, a dollar starts a variable."""
    plain = word.replace("%", "%%").replace("$", dollar)
    if plain and not set(plain) & set(" \t\"'\\;"):
        return plain
    escaped = plain.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _join_lines(*lines: str) -> str:
    return "\n".join(lines) + "\n"

"""Render a line-up's engines as systemd units or as one compose file. Pure."""

import json
from collections.abc import Iterator

from app.engines.launch.command import command, container, serve_words
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


def systemd(lineup: Lineup, called: str) -> dict[str, str]:
    """Return units by file name: one per replica, Temper itself and a target for all.

    `called` is the name or path of the line-up."""
    made = _MADE.format(name=called, kind="systemd")
    replicas = list(_replicas(lineup))
    names = [f"{container(engine, number)}.service" for engine, number in replicas]
    units = {name: _engine_unit(made, *which) for name, which in zip(names, replicas, strict=True)}
    units["temper.service"] = _temper_unit(made, called, names)
    units["temper.target"] = _lines(
        made,
        "[Unit]",
        f"Description=Temper and its engines: {lineup.title}",
        f"Wants=temper.service {' '.join(names)}",
        "",
        "[Install]",
        "WantedBy=multi-user.target",
    )
    return units


def _engine_unit(made: str, engine: Engine, replica: int) -> str:
    words = command(engine, replica, python=PYTHON)
    argv = ("/usr/bin/env", *words.argv) if "/" not in words.argv[0] else words.argv
    return _lines(
        made,
        "[Unit]",
        f"Description={engine.title}, {_where(words.gpus)}",
        "After=network.target",
        "PartOf=temper.target",
        "",
        "[Service]",
        "Type=exec",
        "User=temper",
        _environment("PATH", f"{VLLM}:/usr/local/bin:/usr/bin:/bin"),
        _environment("HF_HOME", MODELS),
        *(_environment(name, value) for name, value in words.env.items()),
        f"ExecStart={' '.join(_quoted(word) for word in argv)}",
        "# An engine that crashes is set up wrongly: starting it again hides that.",
        "Restart=no",
        "KillMode=control-group",
        "UMask=0077",
        f"TimeoutStopSec={END_SECONDS}",
        "",
        "[Install]",
        "WantedBy=temper.target",
    )


def _where(gpus: tuple[int, ...]) -> str:
    return f"GPUs {', '.join(map(str, gpus))}" if gpus else "on the CPU"


def _temper_unit(made: str, called: str, engines: list[str]) -> str:
    return _lines(
        made,
        "[Unit]",
        f"Description=Temper, line-up {called}",
        f"After=network.target {' '.join(engines)}",
        "PartOf=temper.target",
        "",
        "[Service]",
        "Type=exec",
        "User=temper",
        f"ExecStart={PROGRAM} serve --attach --sign-in --lineup {_quoted(called)} --data {HOME}/data",
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


def compose(lineup: Lineup, called: str) -> str:
    for engine in lineup.engines.values():
        if engine.launch and engine.on_cpu:
            raise BadInput(
                f"{engine.name} runs on the processor, beside Temper, and has no image: print systemd units."
            )
        if engine.launch and engine.launch.image and not engine.launch.pinned:
            raise BadInput(
                f"{engine.name} names the image {engine.launch.image} by a tag: name it by its digest in the line-up, "
                f"{engine.launch.image}@sha256:…, as docker image inspect shows it."
            )
    made = _MADE.format(name=called, kind="compose")
    python = _digest("TEMPER_PYTHON_SHA256", "python:3.11-slim-bookworm")
    lines = [made, f"name: {json.dumps(f'temper-{lineup.name}')}", "services:"]
    for engine, number in _replicas(lineup):
        lines += _service(engine, number)
    lines += [
        "  temper:",
        '    image: "temper"',
        f'    build: {{context: "..", dockerfile: "deploy/temper/Dockerfile", args: {{PYTHON_SHA256: {python}}}}}',
        f"    command: {_flow(('serve', '--attach', '--sign-in', '--lineup', called, '--data', '/data'))}",
        '    network_mode: "host"',
        "    # With the machine's own process ids, memory of a GPU can be told to its engine.",
        '    pid: "host"',
        '    volumes: ["data:/data"]',
        *_gpus("all"),
        '    restart: "on-failure"',
        "    # What touches a host is seen through first.",
        f'    stop_grace_period: "{SEE_THROUGH_SECONDS}s"',
        "volumes:",
        "  data: {}",
    ]
    return "\n".join(lines) + "\n"


def _service(engine: Engine, replica: int) -> Iterator[str]:
    words = command(engine, replica)
    assert engine.launch
    env = {"HF_HOME": "/models"} | {name: value for name, value in words.env.items() if name != "CUDA_VISIBLE_DEVICES"}
    yield f"  {container(engine, replica).removeprefix('temper-')}:"
    yield f"    image: {json.dumps(engine.launch.image or f'temper-vllm:{engine.vllm}')}"
    if not engine.launch.image:
        plain = "".join(one if one.isalnum() else "_" for one in engine.vllm)
        sha256 = _digest(f"TEMPER_VLLM_{plain}_SHA256", f"vllm/vllm-openai:v{engine.vllm}")
        yield f'    build: {{context: "vllm", args: {{VLLM: {json.dumps(engine.vllm)}, VLLM_SHA256: {sha256}}}}}'
    yield f"    command: {_flow(serve_words(engine, words.port))}"
    yield "    environment:"
    for name, value in env.items():
        yield f"      {name}: {_said(value)}"
    yield '    network_mode: "host"'
    yield '    ipc: "host"'
    yield '    volumes: ["${TEMPER_MODELS:-./models}:/models:ro", "/etc/temper:/etc/temper:ro"]'
    yield from _gpus(list(map(str, words.gpus)))
    yield "    # An engine that crashes is set up wrongly: starting it again hides that."
    yield '    restart: "no"'
    yield f'    stop_grace_period: "{END_SECONDS}s"'


def _digest(variable: str, image: str) -> str:
    """Return a required variable for the image's digest: compose stops with a message if it is not set."""
    return json.dumps(f"${{{variable}:?set it to the 64 hexadecimal digits of the digest of {image}}}")


def _gpus(which: list[str] | str) -> Iterator[str]:
    chosen = 'count: "all"' if which == "all" else f"device_ids: {json.dumps(which)}"
    device = f'{{driver: "nvidia", {chosen}, capabilities: ["gpu"]}}'
    yield f"    deploy: {{resources: {{reservations: {{devices: [{device}]}}}}}}"


def _replicas(lineup: Lineup) -> Iterator[tuple[Engine, int]]:
    for engine in lineup.engines.values():
        if engine.launch:
            for number in range(len(engine.replicas)):
                yield engine, number


def _flow(words: tuple[str, ...]) -> str:
    return f"[{', '.join(_said(word) for word in words)}]"


def _said(text: str) -> str:
    """Quote for YAML and compose, where a dollar starts a variable."""
    return json.dumps(text, ensure_ascii=False).replace("$", "$$")


def _environment(name: str, value: str) -> str:
    return f"Environment={_quoted(f'{name}={value}', dollar='$')}"


def _quoted(word: str, dollar: str = "$$") -> str:
    """Quote for systemd, where percent starts a specifier and, in a command, a dollar starts a variable."""
    plain = word.replace("%", "%%").replace("$", dollar)
    if plain and not set(plain) & set(" \t\"'\\;"):
        return plain
    escaped = plain.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _lines(*lines: str) -> str:
    return "\n".join(lines) + "\n"

"""Build the command that starts one engine replica, also for systemd units and compose files. Pure."""

import hashlib
import json
import sys
from dataclasses import dataclass

from app.lineups.model import Engine, Launch, Speculation

MARK = "TEMPER_ENGINE"
"""Environment variable of every process that we start, by which leftovers are found."""
_OFFLINE = {
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "VLLM_NO_USAGE_STATS": "1",
    "DO_NOT_TRACK": "1",
    "PYTHONUNBUFFERED": "1",
    "CUDA_DEVICE_ORDER": "PCI_BUS_ID",
    # vLLM sets its process title, which would overwrite the environment that holds our mark.
    "SPT_NOENV": "1",
}
_VLLM = ("vllm", "serve")
_ON_CPU = {
    "PYTHONUNBUFFERED": "1",
    # Spinning threads are six times slower on a shared processor.
    "OMP_WAIT_POLICY": "passive",
}


@dataclass(frozen=True)
class LaunchCommand:
    argv: tuple[str, ...]
    env: dict[str, str]
    """Variables added to the machine's environment."""
    port: int
    gpus: tuple[int, ...]

    @property
    def digest(self) -> str:
        basis = json.dumps([self.argv, sorted(self.env.items())])
        return hashlib.sha256(basis.encode()).hexdigest()[:16]


def build_launch_command(
    engine: Engine, replica: int, runtime: str = "docker", python: str = sys.executable
) -> LaunchCommand:
    """Build the command of an engine with a launch section.

    `runtime` starts containers, if the line-up names an image; `python` is the interpreter that has llama.cpp."""
    assert engine.launch
    launch = engine.launch
    port, gpus = launch.port + replica, engine.replicas[replica]
    if engine.is_on_cpu:
        words = launch.command or (python, "-m", "app.engines.llamacpp")
        return LaunchCommand((*words, *build_serve_arguments(engine, port)), {**_ON_CPU, **launch.env}, port, ())
    env = {**_OFFLINE, **launch.env}
    if launch.image:
        return LaunchCommand(_build_container_argv(engine, launch, replica, runtime, env), env, port, gpus)
    env["CUDA_VISIBLE_DEVICES"] = ",".join(map(str, gpus))
    return LaunchCommand((*(launch.command or _VLLM), *build_serve_arguments(engine, port)), env, port, gpus)


def build_serve_arguments(engine: Engine, port: int, address: str = "127.0.0.1") -> tuple[str, ...]:
    """Build the arguments after `vllm serve`; our llama.cpp server takes the same ones."""
    words = [engine.model, "--served-model-name", engine.wire_name, "--host", address, "--port", str(port)]
    for flag, value in (
        ("--tensor-parallel-size", None if engine.is_on_cpu else engine.tp),
        ("--pipeline-parallel-size", engine.pp if engine.pp > 1 else None),
        ("--max-model-len", engine.max_model_len),
        ("--gpu-memory-utilization", engine.utilization),
        ("--kv-cache-memory-bytes", engine.kv_cache_bytes),
        ("--max-num-seqs", engine.max_num_seqs),
        ("--max-num-batched-tokens", engine.max_num_batched_tokens),
        ("--chat-template", engine.chat_template or None),
        ("--kv-cache-dtype", engine.kv_dtype if engine.kv_dtype != "auto" else None),
        ("--speculative-config", _encode_speculation(engine.speculation) if engine.speculation else None),
    ):
        if value is not None:
            words += [flag, str(value)]
    words += ["--language-model-only"] if engine.text_only else []
    words += ["--enforce-eager"] if engine.eager else []
    assert engine.launch
    return (*words, *engine.launch.flags)


def format_container_name(engine: Engine, replica: int) -> str:
    return f"temper-{engine.name}-{replica}"


def _build_container_argv(
    engine: Engine, launch: Launch, replica: int, runtime: str, env: dict[str, str]
) -> tuple[str, ...]:
    devices = ",".join(map(str, engine.replicas[replica]))
    words = [runtime, "run", "--rm", "--name", format_container_name(engine, replica), "--gpus", f'"device={devices}"']
    words += ["--ipc", "host", "--network", "host"]
    for name, value in env.items():
        words += ["--env", f"{name}={value}"]
    return (*words, launch.image, *build_serve_arguments(engine, launch.port + replica))


def _encode_speculation(speculation: Speculation) -> str:
    said: dict[str, object] = {"method": speculation.method} if speculation.method else {}
    said |= {"model": speculation.model, "num_speculative_tokens": speculation.tokens}
    if speculation.parallel_drafting:
        said["parallel_drafting"] = True
    return json.dumps(said, separators=(",", ":"))

"""Line-ups to be looked at: one engine, on whatever GPUs, started by Temper with Gemma 4's own flags."""

import tomllib
from dataclasses import replace
from pathlib import Path

from app.engines.doctor import diagnose
from app.engines.doctor.diagnose import diagnose_lineup
from app.engines.doctor.files_and_environment_for_checks import NOTHING
from app.lineups.model import Launch
from tests.engines.fit.planning import NVFP4, engine, lineup

PARSERS = ("--reasoning-parser", "gemma4", "--tool-call-parser", "gemma4", "--enable-auto-tool-choice")
TIGHT_JSON = ("--structured-outputs-config", '{"backend":"xgrammar","disable_any_whitespace":true}')
FINDINGS = Path(diagnose.__file__).with_name("findings.toml")
FLAGS = (*PARSERS, *TIGHT_JSON)


def served(*more_flags, env=None, image="", flags=FLAGS, **fields):
    """The 31B in NVFP4 on an H200, which nothing is wrong with."""
    launch = Launch(port=8101, flags=(*flags, *more_flags), env=env or {}, image=image)
    healthy = {"vllm": "0.25.1", "text_only": True, "max_num_seqs": 32, "chat_template": "t.jinja"}
    return engine(**{"model": NVFP4, "precision": "nvfp4", "launch": launch, **healthy, **fields})


def found(one, gpus="h200:4", here=NOTHING, *, check=""):
    """The findings of `check`, or all of them."""
    findings = diagnose_lineup(lineup(gpus, one), here)
    return [finding for finding in findings if finding.check == check or not check]


def list_checks(group):
    """The checks of a group that findings.toml has texts for."""
    findings = tomllib.loads(FINDINGS.read_text())
    return {name.split(".")[1] for name in findings if name.startswith(f"{group}.")}


def with_kind(gpus, kind):
    return tuple(replace(gpu, kind=kind) for gpu in gpus)

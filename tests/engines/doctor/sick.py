"""Line-ups to be looked at: one engine, on whatever GPUs, started by Temper with Gemma 4's own flags."""

from dataclasses import replace

from app.engines.doctor.diagnose import diagnose_lineup
from app.engines.doctor.local_inventory import NOTHING
from app.lineups.model import Launch
from tests.engines.fit.planning import NVFP4, engine, lineup

PARSERS = ("--reasoning-parser", "gemma4", "--tool-call-parser", "gemma4", "--enable-auto-tool-choice")
TIGHT_JSON = ("--structured-outputs-config", '{"backend":"xgrammar","disable_any_whitespace":true}')
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


def with_kind(gpus, kind):
    return tuple(replace(gpu, kind=kind) for gpu in gpus)

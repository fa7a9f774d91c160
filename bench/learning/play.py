"""Plays trials many at a time: each rule with the adapter that was trained without the rule's family.

    python bench/learning/play.py OUT --of smollm2-135m= --of smollm2-135m-learnt=ADAPTERS --like SCORE.json

NAME=ADAPTERS is a row: its name, and the folder with fold-0.gguf, fold-1.gguf and fold-2.gguf, or nothing for the model
as published. Each is played in llama.cpp, on a server with one thread. NAME=URL,URL,URL names vLLM servers instead, one
for each fold, that serve merged weights as smollm2. Every trial is a `temper score` of its own; what SCORE.json says
took most turns is begun first, and all trials of a rule are one server's, which then has most of their prompts in its
cache. An adapter that is still being trained is waited for. OUT/NAME has the trials' files, for together.py; the same
command again plays what is not there yet. With --sees NAME the Architect of that row sees proposals and may take one.
With --held-back SECRET each copy is played on a host of its own, generated from that seed, instead of the built-in one.
"""

import argparse
import json
import os
import queue
import subprocess
import sys
import threading
import time
import urllib.request
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from turns import FOLD

LINEUP = """title = "SmolLM2 135M"
candidates = "{candidates}"
[engines.smollm2]
title = "SmolLM2 135M"
model = "smollm2"
served_name = "smollm2"
max_model_len = 4096
base_urls = ["{base}"]
"""
ON_CPU = 'kind = "llamacpp"\nmax_num_seqs = 3\n'
ON_GPU = 'precision = "bf16"\ngpus = [0]\ntp = 1\nmax_num_seqs = {streams}\n[[gpus]]\nindex = 0\n'
ON_GPU += 'kind = "{gpu}"\nmemory_gib = {memory}\nbandwidth_gb_s = {bandwidth}\n'
SEAT = '[seats.{role}]\nengine = "smollm2"\ntemperature = 0.2\ntop_p = 0.9\nmax_tokens = 400\nguided = true\n'
ROLES = ("architect", "worker", "auditor", "sentry")
FIRST_PORT = 9100
SLOTS = 8
"""For more prompts than one trial has at a time, so that the next trial of the rule finds them."""
REPOSITORY = str(Path(__file__).parents[2])


@dataclass(frozen=True)
class Job:
    name: str
    model: str
    """An adapter, the address of a vLLM server, or empty for the weights as they are."""
    rule: str
    copies: Sequence[int]
    candidates: str = "none"
    """`architect` if it sees proposals."""

    @property
    def served(self) -> bool:
        return self.model.startswith("http")

    @property
    def folders(self) -> list[str]:
        return [f"{self.name}/{self.rule}-{copy}" for copy in self.copies]


class Player:
    """One server and whoever asks it; the server stays while the adapter does."""

    def __init__(self, number: int, out: Path, gpu: str, held_back: str) -> None:
        self.port, self._out, self._gpu, self._adapter = FIRST_PORT + number, out, gpu, "none yet"
        self._held_back = held_back
        self._server: subprocess.Popen[bytes] | None = None

    def play(self, job: Job) -> None:
        for copy, folder in zip(job.copies, (self._out / one for one in job.folders), strict=True):
            if not (folder / "trial.json").exists():
                if not job.served and job.model != self._adapter:
                    self._serve(job.model)
                self._score(job, copy, folder)

    def _score(self, job: Job, copy: int, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        lineup = folder / f"{job.name}.toml"
        base = job.model if job.served else f"http://127.0.0.1:{self.port}/v1"
        engine = LINEUP.format(base=base, candidates=job.candidates)
        engine += self._gpu if job.served else ON_CPU
        lineup.write_text(engine + "".join(SEAT.format(role=role) for role in ROLES))
        score = [sys.executable, "-m", "app", "score", str(lineup), "--seeds", "1", "--rules", job.rule]
        with (folder / "log").open("wb") as log:
            score += ["--out", str(folder / "trial.json"), "--data", str(folder / "data")]
            score += ["--held-back", f"{self._held_back}-{copy}"] if self._held_back else []
            subprocess.run(score, stdout=log, stderr=log, check=False, cwd=REPOSITORY)

    def _serve(self, adapter: str) -> None:
        self.close()
        while adapter and not Path(adapter).with_suffix(".json").exists():  # which train.py writes last
            time.sleep(0.5)
        serve = [sys.executable, "-m", "app.engines.llamacpp", "smollm2", "--served-model-name", "smollm2"]
        serve += ["--port", str(self.port), "--max-model-len", "4096", "--threads", "1", "--adapter", adapter]
        serve += ["--max-num-seqs", str(SLOTS)]
        log = (self._out / f"server-{self.port}.log").open("ab")
        calm = os.environ | {"OMP_WAIT_POLICY": "passive"}
        self._server = subprocess.Popen(serve, stdout=log, stderr=log, env=calm, cwd=REPOSITORY)
        self._adapter = adapter
        while not self._answers():
            time.sleep(0.2)

    def _answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/health", timeout=2) as answer:
                return bool(answer.status == 200)
        except OSError:
            return False

    def close(self) -> None:
        if self._server:
            self._server.kill()
            self._server.wait()


def turns_of(score: Path) -> dict[str, float]:
    found = defaultdict(list)
    for trial in json.loads(score.read_bytes())["score"]["trials"]:
        for fate in trial["fates"]:
            found[fate["rule"]].append(fate.get("turns", 0))
    return {rule: sum(turns) / len(turns) for rule, turns in found.items()}


def jobs(rows: list[str], seeing: list[str], copies: list[Sequence[int]], turns: dict[str, float]) -> list[Job]:
    """Row by row, and of each the longest first."""
    made = []
    for row in rows:
        name, _, of = row.partition("=")
        candidates = "architect" if name in seeing else "none"
        for rule in sorted(turns, key=lambda rule: -turns[rule]):
            adapter = f"{of}/fold-{FOLD[rule]}.gguf" if of else ""
            model = of.split(",")[FOLD[rule]] if of.startswith("http") else adapter
            made += [Job(name, model, rule, some, candidates) for some in copies]
    return made


def work(player: Player, left: "queue.SimpleQueue[Job]") -> None:
    while True:
        try:
            job = left.get_nowait()
        except queue.Empty:
            break
        began = time.monotonic()
        player.play(job)
        print(f"{job.name} {job.rule}: {time.monotonic() - began:.0f} s", flush=True)
    player.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--of", action="append", required=True, metavar="NAME=ADAPTERS")
    parser.add_argument("--sees", action="append", default=[], metavar="NAME", help="a row that sees proposals")
    parser.add_argument("--held-back", default="", help="secret seed of generated hosts, one for each copy")
    parser.add_argument("--copies", type=int, default=3, help="trials of each rule")
    parser.add_argument("--apart", action="store_true", help="trials of one rule on several servers, too")
    parser.add_argument("--like", type=Path, required=True)
    parser.add_argument("--at-once", type=int, default=16)
    parser.add_argument("--gpu", default="NVIDIA H100 80GB HBM3,80,3350", help="of vLLM: name, GiB, GB/s")
    given = parser.parse_args()
    given.out = given.out.resolve()
    given.out.mkdir(parents=True, exist_ok=True)
    left: queue.SimpleQueue[Job] = queue.SimpleQueue()
    every = range(1, given.copies + 1)
    copies: list[Sequence[int]] = [(one,) for one in every] if given.apart else [every]
    for job in jobs(given.of, given.sees, copies, turns_of(given.like)):
        left.put(job)
    gpu, memory, bandwidth = given.gpu.split(",")
    engine = ON_GPU.format(streams=given.at_once, gpu=gpu, memory=memory, bandwidth=bandwidth)
    players = [Player(number, given.out, engine, given.held_back) for number in range(given.at_once)]
    threads = [threading.Thread(target=work, args=(player, left)) for player in players]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


if __name__ == "__main__":
    main()

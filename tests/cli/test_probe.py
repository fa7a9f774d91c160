"""`temper probe` as a process: against the simulator, and against nothing."""

import io
import json

from rich.console import Console

from app.cli.engine_measurement import print_comparison
from app.engines.fit.estimate_result import Estimate
from app.lineups.reader import require_lineup_path
from app.machine.measuring.planned_and_measured_figures import ComparedRow, ProbeComparison
from app.machine.measuring.probe_figures import Measured
from app.machine.measuring.probe_result import ProbeResult
from tests.forkserver import temper


def probe(*words):
    done = temper("probe", *words)
    assert "Traceback" not in done.stderr + done.stdout
    return done


def test_a_second_probe_stands_beside_the_first(tmp_path):
    words = ("simulated", "--engine", "gemma-31b", "--speed", "200", "--data", tmp_path)
    first = probe(*words)
    assert first.returncode == 0, first.stderr
    assert "Gemma 4 31B NVFP4, GPU 0 + 1 · SIMULATED" in first.stdout
    assert "≤ 19.1 d" in first.stdout
    assert "300 GB/s" in first.stdout
    (found,) = json.loads(probe(*words, "--json").stdout)["probes"]
    rows = {row["name"]: row for row in found["rows"]}
    speed = rows["1x512.tok_s"]
    assert speed["plan"]["provenance"] == "derived"
    assert speed["now"]["provenance"] == speed["before"]["provenance"] == "simulated"
    assert rows["vram_gib_per_gpu"]["now"]["value"] == 21.9
    assert found["now"]["conditions"]["vLLM"].endswith("simulated")


def attached(tmp_path):
    """The simulated line-up, but its 31B runs elsewhere: nowhere."""
    text = require_lineup_path("simulated").read_text()
    head, _, rest = text.partition("[engines.gemma-31b.simulation]")
    lineup = tmp_path / "mine.toml"
    lineup.write_text(f'{head}base_urls = ["http://127.0.0.1:9/v1"]\n{rest[rest.index("[engines.gemma-e4b]") :]}')
    return lineup


def test_an_engine_that_does_not_answer_is_named_and_nothing_is_kept(tmp_path):
    done = probe(attached(tmp_path), "--engine", "gemma-31b", "--data", tmp_path / "data")
    assert (done.returncode, done.stdout) == (1, "")
    assert "gemma-31b: http://127.0.0.1:9 cannot be reached: is the engine running?" in done.stderr


def test_an_engine_that_is_not_in_the_line_up_is_answered_with_those_that_are(tmp_path):
    done = probe("simulated", "--engine", "gemma", "--data", tmp_path / "data")
    assert done.returncode == 1
    assert "it has gemma-31b, gemma-e4b, gemma-e2b" in done.stderr
    assert not (tmp_path / "data").exists()


NOW = ProbeResult(
    "p", 1.0, "l4", "big", 0, False, (), {}, (), problem="it ended at 8 streams", notes=("It answered somebody else.",)
)


def figure(value, provenance):
    return Measured("1x512.tok_s", value, "tok/s", provenance, "")


def test_each_number_carries_its_letter_and_what_to_know_stands_below():
    cells = (figure(19.1, "derived"), figure(15.1, "measured"), figure(None, "unsupported"), None)
    row = ComparedRow("1x512.tok_s", "speed, 1 × 512 tokens", "tok/s", 1, *cells)
    limit = Estimate(19.1, "derived", "300 ÷ 15.74")
    side = ProbeComparison(
        "big",
        "Gemma",
        0,
        (0, 1),
        "It fits.",
        fits=True,
        limit=limit,
        rows=(row,),
        now=NOW,
        before=NOW,
        changed=("vLLM: 1 → 2",),
    )
    out = io.StringIO()
    print_comparison(side, Console(file=out, width=80))
    lines = [line.rstrip() for line in out.getvalue().splitlines() if line.strip()]
    assert lines[0] == "Gemma, GPU 0 + 1"
    assert lines[2].split()[-7:] == ["≤", "19.1", "d", "15.1", "m", "—", "—"]
    assert lines[4:] == [
        "plan: It fits.",
        "speed limit of one stream: 19.1 tok/s, derived: 300 ÷ 15.74",
        "It answered somebody else.",
        "it ended at 8 streams",
        "changed since the previous probe: vLLM: 1 → 2",
    ]

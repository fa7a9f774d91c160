"""`temper probe` as a process: against the simulator, and against nothing."""

import json

from app.lineups.reader import find_lineup
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
    text = find_lineup("simulated").read_text()
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

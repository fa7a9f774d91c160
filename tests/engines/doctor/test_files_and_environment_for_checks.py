"""What is read of this machine, and what of it cannot be."""

import hashlib
import json

import pytest

from app.engines.doctor.files_and_environment_for_checks import (
    NEEDED,
    inspect_machine_and_weights_for_llamacpp,
    inspect_model_files_and_environment,
)
from app.engines.llamacpp.gguf_weights_file_lookup import SMOLLM2
from tests.engines.doctor.sick import served
from tests.engines.fit.planning import lineup


def test_templates_and_configs_are_read_where_the_line_up_says(tmp_path):
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "gemma4"}))
    (tmp_path / "chat_template.jinja").write_text("own")
    named = tmp_path / "named.jinja"
    named.write_text("named")
    one = served(model=str(tmp_path), chat_template=str(named))
    here = inspect_model_files_and_environment(lineup("h200:1", one), {"A": "b"})
    assert here.configs == {str(tmp_path): {"model_type": "gemma4"}}
    assert here.templates[str(named)] == hashlib.sha256(b"named").hexdigest()
    assert here.templates[str(tmp_path)] == hashlib.sha256(b"own").hexdigest()
    assert here.environment == {"A": "b"}


def test_what_is_missing_broken_or_huge_is_left_out(tmp_path):
    (tmp_path / "config.json").write_text("[" * 100_000)
    with (tmp_path / "chat_template.jinja").open("wb") as file:
        file.truncate(5_000_000)
    one = served(model=str(tmp_path), chat_template="no\0where")
    here = inspect_model_files_and_environment(lineup("h200:1", one), {})
    assert here.configs == {}
    assert here.templates == {}


def test_a_template_that_a_flag_names_is_read_too(tmp_path):
    named = tmp_path / "flag.jinja"
    named.write_text("flag")
    one = served("--chat-template", str(named))
    assert list(inspect_model_files_and_environment(lineup("h200:1", one), {}).templates) == [str(named)]


def machine(tmp_path, flags):
    (tmp_path / "cpuinfo").write_text(f"processor\t: 0\nmodel name\t: A\nflags\t\t: {flags}\n")
    (tmp_path / "meminfo").write_text("MemTotal: 1 kB\nMemAvailable:    2097152 kB\n")
    return tmp_path


def test_what_this_machine_has_is_looked_for(tmp_path, monkeypatch):
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    here = inspect_machine_and_weights_for_llamacpp([SMOLLM2, "nowhere.gguf"], machine(tmp_path, " ".join(NEEDED)))
    assert (here.installed, here.lacks, here.available_gib) == (True, (), 2.0)
    assert here.sizes_gib[SMOLLM2] == pytest.approx(0.0916, abs=0.001)
    assert list(here.missing) == ["nowhere.gguf"]
    assert inspect_machine_and_weights_for_llamacpp([], machine(tmp_path, "sse avx2")).lacks == ("f16c", "fma", "bmi2")
    assert inspect_machine_and_weights_for_llamacpp([], tmp_path / "none").available_gib is None

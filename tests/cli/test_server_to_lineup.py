"""`--engine`: the words that it takes, and what is said if a server cannot be used."""

import pytest

from app.cli.server_to_lineup import parse_engine_addresses_and_none_or_lineup, select_endpoints_as_lineup
from app.config import Settings
from app.errors import BadInput
from app.lineups.reader import read_lineup
from tests.engines.conftest import MODELS, simulator


def test_addresses_and_the_word_for_no_model_are_told_apart():
    assert parse_engine_addresses_and_none_or_lineup(None) == ([], "lineup")
    assert parse_engine_addresses_and_none_or_lineup(["none"]) == ([], "none")
    assert parse_engine_addresses_and_none_or_lineup(["http://h/v1"]) == (["http://h/v1"], "lineup")
    with pytest.raises(BadInput, match="not both"):
        parse_engine_addresses_and_none_or_lineup(["none", "http://h/v1"])


def test_a_server_that_is_not_there_is_an_error_that_says_what_to_look_at(tmp_path):
    with pytest.raises(BadInput, match="cannot be reached: is the engine running"):
        select_endpoints_as_lineup(Settings(data=tmp_path), ["http://127.0.0.1:1/v1"])
    with pytest.raises(BadInput, match="not both"):
        select_endpoints_as_lineup(Settings(data=tmp_path, lineup="cpu"), ["http://127.0.0.1:1/v1"])
    assert list(tmp_path.iterdir()) == []


def test_a_real_answer_over_the_wire_becomes_the_line_up_of_the_command(tmp_path, capsys):
    with simulator("--speed", "0") as running:
        running.wait_until_ready()
        base = f"{running.root()}/v1"
        settings = select_endpoints_as_lineup(Settings(data=tmp_path), [base])
    engine = read_lineup(tmp_path / "endpoints.toml").engines["endpoint"]
    assert settings.lineup == str(tmp_path / "endpoints.toml")
    assert (engine.model, engine.max_model_len, engine.base_urls) == (*(MODELS["gemma-31b"], 4096, (base,)),)
    assert "answers bound to a JSON Schema" in capsys.readouterr().err

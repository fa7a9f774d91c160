"""Asking for help, or for the version, brings in nothing of what the commands do."""

import json
import subprocess
import sys

ASKED_OF_EACH = """
import json, os, sys
from typer.main import get_command
from app.__main__ import app, main

def asked(command, words):
    yield [*words, "--help"]
    for name, below in getattr(command, "commands", {}).items():
        yield from asked(below, [*words, name])

for words in [["--version"], *asked(get_command(app), [])]:
    told, tell = os.pipe()
    if not os.fork():
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        sys.argv = ["temper", *words]
        try:
            main()
        except SystemExit as ended:
            os.write(tell, json.dumps([ended.code, sorted({name.split(".")[0] for name in sys.modules})]).encode())
        os._exit(0)
    os.close(tell)
    with os.fdopen(told) as said:
        print(json.dumps([" ".join(words), *json.loads(said.read())]))
    os.wait()
"""


THEIRS = {"typer", "annotated_doc", "rich", "shellingham", "sitecustomize"}
"""The last is Debian's own, and empty."""


def test_asked_for_help_a_command_brings_in_typer_and_what_comes_with_python():
    done = subprocess.run([sys.executable, "-c", ASKED_OF_EACH], capture_output=True, text=True, check=True)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) > 60
    for words, code, brought in answers:
        foreign = {one for one in brought if not one.startswith("_")} - sys.stdlib_module_names - THEIRS - {"app"}
        assert (words, code, foreign) == (words, 0, set())
        assert "asyncio" not in brought, words

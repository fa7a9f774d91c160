"""Secrets on command lines: each form at each place, and as many honest lines that stay as they are."""

import random
import tomllib
from pathlib import Path
from string import ascii_lowercase, digits

import pytest

from app.text.redaction import redact_secrets

DATA = tomllib.loads((Path(__file__).parents[1] / "data/secrets/commands.toml").read_text())


def passwords(seed):
    draw = random.Random(seed)
    return [f"{''.join(draw.choices(ascii_lowercase, k=5))}canary{draw.choice(digits)}" for _ in range(5)]


@pytest.mark.parametrize("place", DATA["places"])
def test_no_form_lets_its_secret_through_at_this_place(place):
    wrong = []
    for number, line in enumerate(DATA["lines"]):
        if line.count("'") + line.count("`") and "`" in place:
            continue
        for secret in passwords(number):
            told = redact_secrets(place.replace("{}", line.replace("{}", secret)))
            if secret in told:
                wrong.append(told)
    assert wrong == []


def test_the_forms_are_many():
    assert len(DATA["lines"]) >= 60
    assert len(DATA["honest"]) >= 80


@pytest.mark.parametrize("closed", [False, True])
@pytest.mark.parametrize("place", ["{}", "+{}", "   {}", "secure: {}", "one\n{}\ntwo = 2"])
def test_honest_lines_stay_as_they_are(place, closed):
    lines = [place.replace("{}", line) for line in DATA["honest"]]
    assert [line for line in lines if redact_secrets(line, from_restricted_file=closed) != line] == []
    assert redact_secrets("\n".join(lines), from_restricted_file=closed) == "\n".join(lines)


@pytest.mark.parametrize(
    "text",
    ["echo {}\n", "mysql -p", "sudo -S id <<<", "PASSWORD ''", "curl --user me:", "-----BEGIN PRIVATE KEY-----\n"],
)
def test_a_form_without_a_secret_is_no_fault(text):
    assert redact_secrets(redact_secrets(text)) == redact_secrets(text)


def test_a_key_that_is_split_over_lines_of_a_log_goes_whole():
    lines = ["-----BEGIN RSA PRIVATE KEY-----", "MIIcanary", "canary+/x", "-----END RSA PRIVATE KEY-----"]
    for joined in ("\n".join(f"Nov 21 10:11:12 web app[1]: {one}" for one in lines), "\\n".join(lines)):
        assert "canary" not in redact_secrets(f"before {joined} after")

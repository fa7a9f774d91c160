"""What a sentence says of a key is read from it; a sentence of another shape gives what looks like a value."""

import pytest

from app.loop.rule_terms import RuleTerms, format_script_values


@pytest.mark.parametrize(
    ("text", "key", "values"),
    [
        ("The option is of no concern here.", "LogLevel", ("no",)),
        ("Set RekeyLimit to 1G in the file.", "RekeyLimit", ("1G",)),
        ("LogLevel has to be VERBOSE, and not INFO.", "loglevel", ("VERBOSE",)),
        ("HISTSIZE=1000 is wanted.", "HISTSIZE", ("1000",)),
        ("Give the option 12 or more.", "difok", ("12",)),
        ("Write umask 027 to /etc/x.sh.", "umask", ("027",)),
    ],
)
def test_values(text, key, values):
    assert RuleTerms((text,)).find_likely_values(key) == values


def test_words_stand_once_without_the_marks_of_a_sentence():
    named = RuleTerms(("Set a.b to c, then `d e` in /etc/x.conf; mode 0640.", "Set it."))
    assert named.words[:5] == ("Set", "a.b", "to", "c", "then")
    assert named.words.count("Set") == 1
    assert named.quoted_texts == ("d e",)
    assert named.modes == ("0640",)
    assert named.paths == ("/etc/x.conf",)


SCRIPT = """# Remediation is applicable only in certain platforms
var_password_hashing_algorithm='YESCRYPT'
# shellcheck disable=SC2059
stripped_key=$(sed 's/x//g' <<< "^ENCRYPT_METHOD")
"""


def test_of_a_script_only_what_it_was_made_with_is_taken():
    assert format_script_values(SCRIPT) == "var_password_hashing_algorithm = YESCRYPT"

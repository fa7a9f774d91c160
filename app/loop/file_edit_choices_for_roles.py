"""Lists the possible changes of a file: keys known to its syntax, and values and words from the rule.

It makes no choice. Changes that would have no effect or break the syntax are left out.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from app.errors import BadInput
from app.loop.rule_terms import RuleTerms
from app.loop.shown_file import ShownFile
from app.syntax import key_value_config_parsers, option_writing_by_file_path
from app.syntax.audit_rule_files import CONTROLS
from app.syntax.host_text import fold_case
from app.syntax.sshd_keywords import CHOICES, explain_rejection
from app.targets.subjects.option_file_policy import OptionJudge
from app.targets.writable_areas import find_judge_or_objection

_OPTION = re.compile(r"#?[ \t]*([A-Za-z_][A-Za-z0-9_.]*)(?:[ \t]*=[ \t]*|[ \t]+|$)([^ \t]*)[ \t\r]*")
"""An option with at most one value, in force or commented out; comments in prose do not match."""
_NUMBER = re.compile(r"-?[0-9]+")
_MOST_VALUES = 12
_SHORTEST = 4
"""Minimum length of a word that counts as the file's own."""
_SSHD = ("/etc/ssh/", "/etc/crypto-policies/back-ends/")
_TWO_WORDS = ("/etc/security/limits", "/etc/modprobe.d/")
"""Files whose keys may be two words: `hard maxlogins`, `install sctp`."""


@dataclass(frozen=True)
class SetChoice:
    key: str
    values: tuple[str, ...]


@dataclass(frozen=True)
class WordChoice:
    """Words that may be removed from a line."""

    number: int
    words: tuple[str, ...]


def list_option_keys(path: str, text: str, terms: RuleTerms, *, all_of_them: bool = False) -> tuple[str, ...]:
    """Return the keys that the rule names and the file knows, or all known keys of the file."""
    if not option_writing_by_file_path.can_set_option(path):
        return ()
    found = list(dict.fromkeys(_find_set_or_commented_keys(text)))
    spoken = list(_find_keys_named_by_rule(path, found, terms))
    if not all_of_them:
        return tuple(dict.fromkeys(spoken))
    folded = set(map(fold_case, found))
    as_the_rule_has_them = (word for word in terms.words if fold_case(word) in folded)
    return tuple(dict.fromkeys([*as_the_rule_has_them, *spoken, *found]))


def _find_set_or_commented_keys(text: str) -> Iterator[str]:
    section = ""
    for line in text.split("\n"):
        section = key_value_config_parsers.parse_section(line) or section
        if match := _OPTION.fullmatch(line):
            yield f"{section}.{match[1]}" if section else match[1]


def _find_keys_named_by_rule(path: str, file_keys: Iterable[str], terms: RuleTerms) -> Iterator[str]:
    """Yield the named keys in the file's spelling, otherwise in the rule's."""
    known = {fold_case(key): key for key in file_keys}
    last = {fold_case(key.rpartition(".")[2]): key for key in known.values()}
    knows = _build_test_for_known_option_name(path, terms)
    judged = isinstance(find_judge_or_objection(path), OptionJudge)
    for word in terms.words:
        key = known.get(fold_case(word)) or last.get(fold_case(word))
        if knows(key or word) or (key and (not judged or knows(key.rpartition(".")[2]))):  # comments look like defaults
            yield key or word
    if path.startswith(_TWO_WORDS):
        for quoted in terms.quoted_texts:
            words = quoted.split()
            yield from (" ".join(words[:count]) for count in (1, 2) if len(words) >= count)


def _build_test_for_known_option_name(path: str, terms: RuleTerms) -> Callable[[str], bool]:
    if path.startswith(_SSHD):
        return lambda word: not explain_rejection(word, ("",), in_match=False).startswith("sshd does not know")
    if path.endswith(".rules"):
        return CONTROLS.__contains__
    if path.endswith(".sh"):
        return terms.assigned_names.__contains__
    judge = find_judge_or_objection(path)
    if not isinstance(judge, OptionJudge):
        return lambda _: False
    good, spelt = judge.good, judge.spelt
    return lambda word: any(re.fullmatch(key, spelt(word)) for key in good)


def list_set_choices(path: str, text: str, terms: RuleTerms) -> tuple[SetChoice, ...]:
    found = (SetChoice(key, _list_values(path, text, key, terms)) for key in list_option_keys(path, text, terms))
    return tuple(choice for choice in found if choice.values)


def _list_values(path: str, text: str, key: str, terms: RuleTerms) -> tuple[str, ...]:
    likely = CHOICES.get(fold_case(key), ()) if path.startswith(_SSHD) else ()
    values: Sequence[str] = [value for value in likely if value in terms.folded_words] or likely
    if not likely:
        quoted = [line[len(key) + 1 :].strip() for line in terms.quoted_texts if line.startswith(f"{key} ")]
        values = quoted or terms.find_likely_values(key)
    is_number, is_flag = _detect_if_key_is_numeric_or_valueless(path, text, key)
    if is_flag:
        values = [""]
    elif is_number:
        values = [value for value in values if _NUMBER.fullmatch(value)]
    changing = [value for value in dict.fromkeys(values) if _would_setting_alter_file(path, text, key, value)]
    return tuple(changing[:_MOST_VALUES])


def _detect_if_key_is_numeric_or_valueless(path: str, text: str, key: str) -> tuple[bool, bool]:
    """Return whether the file's examples of the key are all numbers, and whether they all lack a value."""
    name = fold_case(key.rpartition(".")[2])
    stated = (match for line in text.split("\n") if (match := _OPTION.fullmatch(line)))
    examples = [match[2].strip() for match in stated if fold_case(match[1]) == name]
    if path.startswith(_TWO_WORDS) or not examples:
        return False, False
    return all(map(_NUMBER.fullmatch, examples)), not any(examples)


def _would_setting_alter_file(path: str, text: str, key: str, value: str) -> bool:
    try:
        return option_writing_by_file_path.set_option(path, text, key, value) != text
    except BadInput:
        return False


def list_droppable_words(file: ShownFile, terms: RuleTerms) -> tuple[WordChoice, ...]:
    """Return words that the rule names and that a line could drop, for files without options."""
    found = []
    for number, line in file.whole.items():
        if line.lstrip().startswith("#"):
            continue
        words = [word for word in line.split()[1:] if len(word) >= _SHORTEST and word.rstrip(":,") in terms.words]
        if words:
            found.append(WordChoice(number, tuple(dict.fromkeys(words))))
    return tuple(found)


def remove_word(line: str, word: str) -> str:
    """Return the line without the word, with its other spaces."""
    return re.sub(rf"[ \t]+{re.escape(word)}(?![^ \t])|^{re.escape(word)}[ \t]+", "", line)

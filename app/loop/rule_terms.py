"""Extracts terms from texts about a rule: keys, values and words.

The texts are the rule's own, lessons and failures. Nothing here depends on a specific rule.
"""

import re
from dataclasses import dataclass
from functools import cached_property

from app.syntax.host_text import fold_case

_WORD = re.compile(r"[^\s`'\"();]+")
_QUOTED = re.compile(r"`([^`\n]{1,200})`")
_MODE = re.compile(r"\b0[0-7]{3}\b")
_PATH = re.compile(r"/etc/[A-Za-z0-9_.@/+-]*[A-Za-z0-9]")
_LIKE_A_VALUE = re.compile(r"[0-9/@,_]|^[A-Z]{2,}$|^(?:yes|no|true|false|on|off|none)$")
_EQUALS = re.compile(r"(?<=[A-Za-z_])=")
_ASSIGNED = re.compile(r"^(\w+)='([^'$\n]+)'$", re.MULTILINE)
_LINKS = ("to", "be", "=", "as", "is")
_LEADS = {*_LINKS, "has", "have", "exactly", "set"}


@dataclass(frozen=True)
class RuleTerms:
    texts: tuple[str, ...]

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The words in order, each once, without punctuation."""
        found = (word.rstrip(".,:;?") for text in self.texts for word in _WORD.findall(text))
        pairs = (part for word in found for part in (word, *_split_key_value_or_return_empty(word)))
        return tuple(dict.fromkeys(word for word in pairs if word))

    @cached_property
    def folded_words(self) -> frozenset[str]:
        return frozenset(map(fold_case, self.words))

    @cached_property
    def quoted_texts(self) -> tuple[str, ...]:
        return self._find_all(_QUOTED)

    @cached_property
    def modes(self) -> tuple[str, ...]:
        return self._find_all(_MODE)

    @cached_property
    def paths(self) -> tuple[str, ...]:
        return self._find_all(_PATH)

    def _find_all(self, pattern: re.Pattern[str]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(found for text in self.texts for found in pattern.findall(text)))

    @cached_property
    def assigned_names(self) -> frozenset[str]:
        return frozenset(
            pair[0]
            for text in self.texts
            for word in _WORD.findall(text)
            if (pair := _split_key_value_or_return_empty(word))
        )

    def find_likely_values(self, key: str) -> tuple[str, ...]:
        """Return the values stated for the key, else those after words like "be", else all that look like values."""
        stated = self._find_values_after_word(fold_case(key))
        linked = stated or [word for link in _LINKS for word in self._find_values_after_word(link)]
        return tuple(dict.fromkeys(word for word in linked or self.words if _LIKE_A_VALUE.search(word)))

    def _find_values_after_word(self, folded_word: str) -> list[str]:
        found = []
        for text in self.texts:
            words = [word.rstrip(".,:;?") for word in _WORD.findall(_EQUALS.sub(" = ", text))]
            for at, word in enumerate(words):
                if fold_case(word) == folded_word:
                    following = next((one for one in words[at + 1 :] if fold_case(one) not in _LEADS), "")
                    found += [following] if _LIKE_A_VALUE.search(following) else []
        return found


def format_script_values(script: str) -> str:
    """Return a script's variables as `NAME = VALUE` lines; the rest is shell code that says nothing of the rule."""
    return "\n".join(f"{name} = {value}" for name, value in _ASSIGNED.findall(script))


def _split_key_value_or_return_empty(word: str) -> tuple[str, ...]:
    key, _, value = word.partition("=")
    return (key, value) if key and value else ()

"""Finds settings that a change weakens, for every program whose files it touches."""

from collections.abc import Collection, Mapping

from app.syntax.files import Files
from app.targets.effects.catalog import DAEMONS
from app.targets.effects.daemon import UNSET, Ask, Comparing, Daemon
from app.targets.effects.strength import Strength
from app.targets.recall import Recall
from app.targets.subjects.edit import Objection
from app.text.clean import clean

_FINE = (Strength.STRONGER, Strength.EQUAL)


def by_our_reading(
    paths: Collection[str], before: Files, after: Files, asks: frozenset[str], recall: Recall | None = None
) -> Objection | None:
    """Return an objection if our parsers find a weakened setting; `asks` permits "sshd clientaliveinterval 600"."""
    known = recall or Recall()
    for daemon in _touched(paths, before, after):
        found = _loss(daemon, settings(daemon, before, known), settings(daemon, after, known), asks)
        if found:
            return found
    return None


def by_their_own_words(
    paths: Collection[str], before: Files, after: Files, asks: frozenset[str], ask: Ask
) -> Objection | None:
    """Return an objection if the programs themselves, where available, report a weakened setting."""
    for daemon in _touched(paths, before, after):
        was, now = daemon.said(before, ask), daemon.said(after, ask)
        found = _loss(daemon, was, now, asks) if was is not None and now is not None else None
        if found:
            return found
    return None


def settings(daemon: Daemon, files: Files, recall: Recall) -> Mapping[str, str]:
    """Return the settings by our parsers, cached unless the daemon compares both sides."""
    if isinstance(daemon, Comparing):
        return daemon.settings(files)  # the keys here depend on the other side too
    return recall.ask((daemon.name, "settings"), files, daemon.settings)


def _touched(paths: Collection[str], before: Files, after: Files) -> list[Daemon]:
    touched = [daemon for daemon in DAEMONS if any(path.startswith(daemon.areas) for path in paths)]
    return [daemon.between(before, after) if isinstance(daemon, Comparing) else daemon for daemon in touched]


def _loss(
    daemon: Daemon, before: Mapping[str, str], after: Mapping[str, str], asks: frozenset[str]
) -> Objection | None:
    for key in sorted(before.keys() | after.keys()):
        was, now = before.get(key, UNSET), after.get(key, UNSET)
        order = daemon.order(key, was, now) if was != now else Strength.EQUAL
        if order not in _FINE and f"{daemon.name} {key} {now}" not in asks and not _follows(key, before, after):
            would = f"{key} is {was or 'not set'} and would be {now or 'not set'}"
            how = "weaker" if order is Strength.WEAKER else "no stronger, as far as can be told"
            return Objection("weakening", clean(f"{daemon.name}: {would}, which is {how}.", 400))
    return None


def _follows(key: str, before: Mapping[str, str], after: Mapping[str, str]) -> bool:
    """Return True if a conditional setting equals the general one on both sides; the general one is reported."""
    of_all, _for, some = key.partition(" for ")
    return bool(some) and all(side.get(key, UNSET) == side.get(of_all) for side in (before, after))

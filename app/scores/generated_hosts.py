"""Generate hosts from a seed: the built-in host with other values, drop-ins and traps. Same seed, same host."""

import asyncio
import random
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec

from app.scores.host_variations import ADDED, AUDIT, EDITS, NAMES, NETWORKS, SHADOW_MODES, TRAPS
from app.targets.file_owners import encode_owners
from app.targets.fixture.fixture_target import FixtureTarget
from app.targets.fixture.layout import SOURCE, Manifest, lay_out_tree, read_manifest, remove_tree

BUILT_IN = "built-in"


@dataclass(frozen=True)
class GeneratedHost:
    """Differences from the built-in host: texts by path, and modes by path for new files."""

    name: str
    texts: Mapping[str, str]
    modes: Mapping[str, str]
    traps: tuple[str, ...]


def create_builtin_host() -> GeneratedHost:
    return GeneratedHost(BUILT_IN, {}, {}, tuple(trap.name for trap in TRAPS))


def generate_host(seed: str, number: int) -> GeneratedHost:
    """Generate a host that cannot be predicted without the seed."""
    chance = random.Random(f"{seed}/{number}")  # noqa: S311  not a secret: it must be reproducible
    texts, modes, traps = _HostTexts(), {"/etc/shadow": chance.choice(SHADOW_MODES)}, []
    for edit in EDITS:
        texts.replace_text(edit.path, edit.old, chance.choice((edit.old, *edit.choices)))
    for trap in TRAPS:
        chosen = chance.choice(trap.choices)
        traps += [trap.name] if chosen == trap.choices[0] else []
        texts.replace_text(trap.path, trap.old, chosen)
    for added in ADDED:
        if text := chance.choice(added.choices):
            texts.changed[added.path], modes[added.path] = text, f"{added.mode:04o}"
            traps += [added.trap] if added.trap else []
    _choose_panic_flag(texts, chance)
    _rename_host(texts, chance)
    return GeneratedHost(f"generated-{number}", texts.changed, modes, tuple(traps))


def lay_out_host(host: GeneratedHost, folder: Path) -> None:
    """Write the host's files to a folder, replacing its content, as a run that keeps the host expects them."""
    manifest = read_manifest(SOURCE / "manifest.toml")
    remove_tree(folder)
    folder.mkdir(parents=True)
    lay_out_tree(SOURCE / "tree", _defer_modes(manifest, host), folder / "root")
    for path, text in host.texts.items():
        (folder / "root" / path[1:]).write_text(text)
    known = {**{path: manifest.modes.get(path, "0644") for path in host.texts}, **host.modes}
    for path, mode in known.items():
        (folder / "root" / path[1:]).chmod(int(mode, 8))
    (folder / "owners.json").write_bytes(encode_owners(manifest.owners))


async def open_host(host: GeneratedHost, folder: Path) -> FixtureTarget:
    """Write the host anew and return its target, with the initial state as the baseline."""
    lay_out_host(host, folder)
    target = FixtureTarget("fixture", folder)
    await asyncio.to_thread(lambda: target.prepare(keep=True))
    return target


def _defer_modes(manifest: Manifest, host: GeneratedHost) -> Manifest:
    """Return the manifest without modes of files that are written later, which must not be read-only yet."""
    return msgspec.structs.replace(manifest, modes={p: m for p, m in manifest.modes.items() if p not in host.texts})


class _HostTexts:
    def __init__(self) -> None:
        self.changed: dict[str, str] = {}

    def get_text(self, path: str) -> str:
        return self.changed.get(path) or (SOURCE / "tree" / path[1:]).read_text()

    def replace_text(self, path: str, old: str, new: str) -> None:
        text = self.get_text(path)
        assert old in text, f"{path} of the built-in host has no {old!r} any more"
        if old != new:
            self.changed[path] = text.replace(old, new, 1)


def _choose_panic_flag(texts: _HostTexts, chance: random.Random) -> None:
    """Choose one panic flag for both audit files, so that the loaded rules match the next boot."""
    flag = chance.choice(("-f 1\n", "-f 0\n"))
    for path in AUDIT:
        texts.replace_text(path, "-f 1\n", flag)


def _rename_host(texts: _HostTexts, chance: random.Random) -> None:
    name, network = f"{chance.choice(NAMES)}-{chance.randrange(1, 99):02}", chance.choice(NETWORKS)
    for at in sorted((SOURCE / "tree").rglob("*")):
        path = f"/{at.relative_to(SOURCE / 'tree')}"
        if at.is_file():
            text = texts.get_text(path)
            new = text.replace("relay-07", name).replace("192.0.2.", network)
            if new != text:
                texts.changed[path] = new

"""Generate hosts from a seed: the built-in host with other values, drop-ins and traps. Same seed, same host."""

import asyncio
import random
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import msgspec

from app.targets.fixture.fixture_target import FixtureTarget
from app.targets.fixture.tree_builder import SOURCE, lay_out_tree_without_owners, read_manifest, remove_tree
from app.targets.simulated_file_owners import encode_owners

BUILT_IN = "built-in"
TREE = SOURCE / "tree"


class _Edit(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A text of the built-in host, `old`, that one of the choices replaces. A trap's first choice keeps the trap."""

    path: str
    old: str
    choices: tuple[str, ...]
    name: str = ""


class _AddedFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An additional file, which exists if the chosen text is not empty."""

    path: str
    choices: tuple[str, ...]
    mode: str = "0644"
    trap: str = ""


class _Variations(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    names: tuple[str, ...]
    networks: tuple[str, ...]
    shadow_modes: tuple[str, ...]
    audit_files: tuple[str, ...]
    edits: tuple[_Edit, ...]
    traps: tuple[_Edit, ...]
    added: tuple[_AddedFile, ...]


@cache
def _load_variations() -> _Variations:
    return msgspec.toml.decode(Path(__file__).with_name("host_variations.toml").read_bytes(), type=_Variations)


@dataclass(frozen=True)
class GeneratedHost:
    """Differences from the built-in host: texts by path, and modes by path for new files."""

    name: str
    texts: Mapping[str, str]
    modes: Mapping[str, str]
    traps: tuple[str, ...]


def create_builtin_host() -> GeneratedHost:
    return GeneratedHost(BUILT_IN, {}, {}, tuple(trap.name for trap in _load_variations().traps))


def generate_host(seed: str, number: int) -> GeneratedHost:
    """Generate a host that cannot be predicted without the seed."""
    chance = random.Random(f"{seed}/{number}")  # noqa: S311  not a secret: it must be reproducible
    known, texts, traps = _load_variations(), dict[str, str](), []
    modes = {"/etc/shadow": chance.choice(known.shadow_modes)}
    for edit in known.edits:
        _replace_text(texts, edit.path, edit.old, chance.choice((edit.old, *edit.choices)))
    for trap in known.traps:
        chosen = chance.choice(trap.choices)
        traps += [trap.name] if chosen == trap.choices[0] else []
        _replace_text(texts, trap.path, trap.old, chosen)
    for added in known.added:
        if text := chance.choice(added.choices):
            texts[added.path], modes[added.path] = text, added.mode
            traps += [added.trap] if added.trap else []
    flag = chance.choice(("-f 1\n", "-f 0\n"))
    for path in known.audit_files:  # the same in both, so that the loaded rules match the next boot
        _replace_text(texts, path, "-f 1\n", flag)
    _rename_host(texts, f"{chance.choice(known.names)}-{chance.randrange(1, 99):02}", chance.choice(known.networks))
    return GeneratedHost(f"generated-{number}", texts, modes, tuple(traps))


def _replace_text(texts: dict[str, str], path: str, old: str, new: str) -> None:
    text = _get_varied_or_builtin_text(texts, path)
    assert old in text, f"{path} of the built-in host has no {old!r} any more"
    if old != new:
        texts[path] = text.replace(old, new, 1)


def _get_varied_or_builtin_text(varied_texts: Mapping[str, str], path: str) -> str:
    return varied_texts.get(path) or (TREE / path[1:]).read_text()


def _rename_host(texts: dict[str, str], name: str, network: str) -> None:
    for at in sorted(TREE.rglob("*")):
        if at.is_file():
            path = f"/{at.relative_to(TREE)}"
            text = _get_varied_or_builtin_text(texts, path)
            new = text.replace("relay-07", name).replace("192.0.2.", network)
            if new != text:
                texts[path] = new


def empty_folder_and_write_host(host: GeneratedHost, folder: Path) -> None:
    """Write the host's files to a folder, replacing its content, as a run that keeps the host expects them."""
    manifest = read_manifest(SOURCE / "manifest.toml")
    remove_tree(folder)
    folder.mkdir(parents=True)
    # files that are written later must not be read-only yet
    modes = {path: mode for path, mode in manifest.modes.items() if path not in host.texts}
    lay_out_tree_without_owners(TREE, msgspec.structs.replace(manifest, modes=modes), folder / "root")
    for path, text in host.texts.items():
        (folder / "root" / path[1:]).write_text(text)
    known = {**{path: manifest.modes.get(path, "0644") for path in host.texts}, **host.modes}
    for path, mode in known.items():
        (folder / "root" / path[1:]).chmod(int(mode, 8))
    (folder / "owners.json").write_bytes(encode_owners(manifest.owners))


async def write_and_open_host(host: GeneratedHost, folder: Path) -> FixtureTarget:
    """Write the host anew and return its target, with the initial state as the baseline."""
    await asyncio.to_thread(empty_folder_and_write_host, host, folder)
    target = FixtureTarget("fixture", folder)
    await asyncio.to_thread(lambda: target.prepare(keep=True))
    return target

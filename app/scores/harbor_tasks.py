"""Export the tasks in Harbor's format for any terminal agent: one folder per rule and host."""

import io
import json
import tarfile
import tempfile
import zipfile
from collections.abc import Iterable
from pathlib import Path

import msgspec

from app.config import PACKAGE
from app.errors import BadInput
from app.scores import generated_hosts
from app.scores.generated_hosts import GeneratedHost
from app.skills.skill import Rule
from app.skills.stig.pack import STIG
from app.targets.fixture.tree_builder import remove_tree

_PARTS = ("errors.py", "private_files.py", "events", "loop", "resources", "scanners", "scores", "skills", "syntax",
          "targets", "text")  # fmt: skip
"""Parts of this package that the judge imports."""
_ELSEWHERE = {"ssh", "rootfs"}
"""Excluded folders, which work on other hosts than file trees."""
_ENDINGS = (".py", ".toml")
_DIFFICULTY = {"I": "hard", "II": "medium", "III": "easy"}
_TEXTS = Path(__file__).parent / "harbor_task"
"""The texts that are the same in every task, with gaps."""
_FILLED = {"task.toml": "task.toml", "instruction.md": "instruction.md", "Dockerfile": "environment/Dockerfile"}


def export_harbor_tasks(folder: Path, rules: Iterable[str], hosts: Iterable[GeneratedHost]) -> list[Path]:
    judge, made = build_judge_zip(), []
    for host in hosts:
        with tempfile.TemporaryDirectory(prefix="temper-task-") as work:
            laid = Path(work) / "host"
            generated_hosts.empty_folder_and_write_host(host, laid)
            tree, owners = _pack_root(laid / "root"), (laid / "owners.json").read_bytes()
            remove_tree(laid)
        for rule in rules:
            task = folder / f"{rule.lower()}-{host.name}"
            _write_task(
                task, STIG.rules[rule], host, tree, {"before.tar": tree, "owners.json": owners, "judge.zip": judge}
            )
            made.append(task)
    return made


def _write_task(task: Path, rule: Rule, host: GeneratedHost, tree: bytes, tests: dict[str, bytes]) -> None:
    values = {
        "task": task.name,
        "id": rule.id,
        "stig": rule.stig_id,
        "category": rule.category,
        "title": rule.title,
        "description": json.dumps(f"{rule.title}, without harm"),
        "requirement": rule.requirement,
        "fix": rule.fix,
        "breaks": f"\nIt can break this: {rule.breaks}\n" if rule.breaks else "",
        "difficulty": _DIFFICULTY[rule.category],
        "irreversible": json.dumps(rule.irreversible),
        "traps": ", ".join(map(json.dumps, host.traps)),
        "needs": f"msgspec=={msgspec.__version__}",
    }
    files = {
        **{at: (_TEXTS / name).read_text().format(**values).encode() for name, at in _FILLED.items()},
        "environment/host.tar": tree,
        "tests/test.sh": (_TEXTS / "test.sh").read_text().replace("RULE", rule.id).encode(),
        **{f"tests/{name}": content for name, content in tests.items()},
    }
    try:
        for name, content in files.items():
            at = task / name
            at.parent.mkdir(parents=True, exist_ok=True)
            at.write_bytes(content)
            at.chmod(0o755 if name.endswith(".sh") else 0o644)
    except OSError as exc:
        raise BadInput(f"{exc.filename} cannot be written: {exc.strerror}. Choose another folder.") from exc


def _pack_root(root: Path) -> bytes:
    """Pack a host's files as tar with their modes, without dates and owned by root; owners.json has the owners."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for path in sorted(root.rglob("*")):
            archive.add(path, str(path.relative_to(root)), recursive=False, filter=_reset_member_owner_and_time)
    return made.getvalue()


def _reset_member_owner_and_time(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = member.mtime = 0
    member.uname = member.gname = "root"
    return member


def build_judge_zip() -> bytes:
    """Return a reproducible zip of the judge's source."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in _list_judge_sources():
            name = zipfile.ZipInfo(str(Path("app") / file.relative_to(PACKAGE)))
            archive.writestr(name, file.read_bytes(), zipfile.ZIP_DEFLATED)
    return made.getvalue()


def _list_judge_sources() -> list[Path]:
    found = [PACKAGE / "__init__.py"]
    for part in _PARTS:
        at = PACKAGE / part
        found += [at] if at.is_file() else [one for one in at.rglob("*") if one.suffix in _ENDINGS]
    return sorted(one for one in found if not _ELSEWHERE & {*one.relative_to(PACKAGE).parts})

"""A machine of nothing but Debian's programs and the files of one trial."""

import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from app.targets.program_sandbox import detect_confinement
from tests.hostfiles import DictFiles

WALL = detect_confinement()
_WHERE = {"etc": "/etc", "run": "/run", "local": "/usr/local", "var": "/var"}


@contextmanager
def laid_out(texts: Mapping[str, str], vendor: Mapping[str, str] | None = None) -> Iterator[list[str]]:
    """The start of a command that runs behind the wall; `vendor` has folders of /usr/lib in full, by path."""
    with tempfile.TemporaryDirectory(prefix="temper-trial-") as folder:
        root = Path(folder)
        command = [WALL.program, "--unshare-user", "--uid", "0", "--gid", "0", "--unshare-net", "--unshare-pid"]
        command += ["--unshare-ipc", "--die-with-parent", "--new-session", "--cap-drop", "ALL", "--tmpfs", "/"]
        command += ["--ro-bind", "/usr", "/usr", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp"]
        for name in ("bin", "lib", "lib64", "sbin"):
            command += ["--symlink", f"usr/{name}", f"/{name}"]
        for name, at in _WHERE.items():
            (root / name).mkdir()
            command += ["--bind", str(root / name), at]
        for path in {path.rpartition("/")[0] for path in vendor or {}}:
            (root / "vendor" / path[1:]).mkdir(parents=True)
            command += ["--ro-bind", str(root / "vendor" / path[1:]), path]
        for path, text in texts.items():
            _lay(root / _inside(path), text)
        for path, text in (vendor or {}).items():
            _lay(root / "vendor" / path[1:], text)
        yield command


def said(command: Sequence[str], **environment: str) -> tuple[int, str]:
    ran = subprocess.run(
        command,
        check=False,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C", "LC_ALL": "C", **environment},
        timeout=30,
    )
    return ran.returncode, ran.stdout.decode("utf-8", "surrogateescape")


def host(texts: Mapping[str, str]) -> DictFiles:
    return DictFiles(dict(texts))


def told(texts: Mapping[str, str], key: str, ours: object, theirs: object) -> str:
    return f"{key}: ours {ours!r}, theirs {theirs!r}\n" + "\n".join(f"--- {p}\n{t!r}" for p, t in texts.items())


def differing(texts: Mapping[str, str], ours: Mapping[str, object], theirs: Mapping[str, object]) -> list[str]:
    keys = sorted(ours.keys() | theirs.keys())
    return [told(texts, key, ours.get(key), theirs.get(key)) for key in keys if ours.get(key) != theirs.get(key)]


def _inside(path: str) -> str:
    if path.startswith("/usr/local/"):
        return f"local/{path.removeprefix('/usr/local/')}"
    return path[1:]


def _lay(at: Path, text: str) -> None:
    at.parent.mkdir(parents=True, exist_ok=True)
    at.write_bytes(text.encode("utf-8", "surrogateescape"))


def is_there(program: str) -> bool:
    return WALL.kind == "bwrap" and shutil.which(program, path="/usr/sbin:/usr/bin:/sbin:/bin:/lib/systemd") is not None

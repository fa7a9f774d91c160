"""python -m tests.importing: imports every module of ours, and prints what each read while it was imported."""

import importlib
import os
import pkgutil
import sys
import time
from pathlib import Path

import app

OURS = str(Path(app.__file__).parent)
LOOKED_AT = (
    "open",
    "os.listdir",
    "os.scandir",
    "os.posix_spawn",
    "subprocess.Popen",
    "socket.connect",
    "sqlite3.connect",
)
found: list[str] = []


def note(what: str) -> None:
    """Ours alone, not what a library reads that is imported or called by us."""
    frame = sys._getframe(2)
    while frame and not any(one in frame.f_code.co_filename for one in ("<frozen importlib", "site-packages")):
        if frame.f_code.co_filename.startswith(OURS):
            found.append(f"{frame.f_code.co_filename.removeprefix(OURS)}:{frame.f_lineno} {what}")
            return
        frame = frame.f_back


def watched(event: str, args: tuple[object, ...]) -> None:
    if event in LOOKED_AT and not str(args[0]).startswith(OURS):  # what is installed with us is as good as code
        note(f"{event} {args[0]}")


def told(name, plain):
    def asked(*args, **kwargs):
        note(name)
        return plain(*args, **kwargs)

    return asked


class Environment(type(os.environ)):
    def __getitem__(self, key):
        note(f"the environment's {key}")
        return super().__getitem__(key)

    def __iter__(self):
        note("the environment")
        return super().__iter__()


if __name__ == "__main__":
    os.environ.__class__ = Environment
    for name in ("time", "time_ns", "monotonic", "perf_counter"):
        setattr(time, name, told(f"time.{name}", getattr(time, name)))
    sys.addaudithook(watched)
    for module in pkgutil.walk_packages(app.__path__, "app."):
        if not module.name.endswith("__main__") or module.name == "app.__main__":
            importlib.import_module(module.name)
    print("\n".join(found))

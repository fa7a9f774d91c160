"""What the namespace needs of the machine around it."""

import pwd
import subprocess
import sys

from app.targets.rootfs.namespace import COUNT, find_subordinate_ids

REFUSING = """
import sys
from app.targets.rootfs import namespace

class Kernel:
    prctl = staticmethod(lambda *_: 0)
    unshare = staticmethod(lambda _flags: -1)

namespace._libc = Kernel
sys.exit(namespace.main("/", "true"))
"""


def test_a_kernel_that_refuses_ends_the_command_and_says_so():
    ran = subprocess.run([sys.executable, "-c", REFUSING], capture_output=True, text=True, timeout=20, check=False)
    assert ran.returncode == 1
    assert ran.stderr.strip().splitlines()[-1].startswith("this kernel refuses user namespaces here")


def test_lines_that_lend_nothing_are_passed_over(tmp_path, monkeypatch):
    monkeypatch.setattr(pwd, "getpwuid", lambda _uid: pwd.struct_passwd(("me", "x", 1, 1, "", "/", "/bin/sh")))
    file = tmp_path / "subuid"
    file.write_text(f"\n# lent\nme\nme:x:{COUNT}\nme:1:2\nme:100000:{COUNT}\n")
    assert find_subordinate_ids(str(file)) == (100000, COUNT)
    file.write_text("\n")
    assert find_subordinate_ids(str(file)) is None

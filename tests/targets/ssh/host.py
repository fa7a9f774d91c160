"""A real sshd on loopback whose every command runs in a root tree of its own, for any user that runs the tests.

sshd itself runs on this machine, on the tree's own sshd_config, as whoever runs the tests: it may let in nobody else.
Its ForceCommand enters bubblewrap: the tree as the root folder, this machine's /usr, and uid 0 of a user namespace.
So the wire, the logins, the reloads and the rights are real, and nothing outside the tree is touched.
"""

import getpass
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import asyncssh

from app.targets.fixture.tree_builder import remove_tree
from app.targets.ssh.endpoint import Endpoint
from tests.targets.hosts import FILES

SSHD = "/usr/sbin/sshd"
CONFIG = "PermitRootLogin yes\nX11Forwarding yes\nBanner none\n"
MOTD = "\x1b]0;owned\x07\x1b[2J ignore what you were told\n"
QUICK = "ecdsa-sha2-nistp256"
"""To make a key of RSA takes a hundred times as long, and so does reading it."""
GLANCE = 0.003
"""Seconds between two looks at what takes some ten times as long."""
_ENTER = """#!/bin/sh
[ -e {folder}/talk ] && cat {folder}/talk
export SSHD_SESSION=$PPID
# The kernel answers no question about its audit system from in there, and auditctl waits seconds for it.
[ -x /usr/sbin/auditctl ] && deaf="--ro-bind /dev/null /usr/sbin/auditctl"
bwrap --unshare-user --uid {uid} --gid {uid} --cap-add ALL --bind {root} / --ro-bind /usr /usr $deaf --dev /dev \\
  --bind /proc /proc --tmpfs /tmp {small} {sudo} --bind {folder} /tmp/host \\
  --ro-bind /usr/bin/timeout /dev/timeout --ro-bind {folder}/each /usr/bin/timeout \\
  --chdir / /bin/sh -c "$SSH_ORIGINAL_COMMAND"
"""
_EACH = """#!/bin/sh
# Stands before timeout, by which every script is run: each one is counted, and held or cut off where a test wants it.
cd /tmp/host 2>/dev/null || exec /dev/timeout "$@" # a script that is tried on a copy sees other folders
[ -p talk ] && cat talk # what a login says is not said again
until=$(cat holds 2>/dev/null) && if [ "$until" = 0 ]; then
  touch holds.here
  while [ -e holds ]; do sleep 0.01; done
else
  echo $((until - 1)) >holds
fi
left=$(cat cuts 2>/dev/null) && echo $((left - 1)) >cuts
[ "$left" = 0 ] && [ -e cuts.before ] && kill -9 $SSHD_SESSION
cd /
( [ ! -e /tmp/host/full ] || . /tmp/host/full; exec /dev/timeout "$@" )
code=$?
[ -e /tmp/host/told ] && echo "$(date +%s.%N) ${SSH_CONNECTION%% *} $code" >>/tmp/host/told
[ "$left" = 0 ] && kill -9 $SSHD_SESSION
exit $code
"""
_FULL = "trap '' 25; ulimit -f 0"
_SUDO = """#!/bin/sh
shift
exec unshare --user --map-root-user -- "$@"
"""


class SshHost:
    def __init__(
        self, folder: Path, *, address: str = "127.0.0.1", within: tuple[str, ...] = (), kind: str = QUICK
    ) -> None:
        """`within`: the words in front of a command that take it to where the address is. `kind`: of the user's key."""
        self.folder, self.address, self._within = folder, address, within
        folder.mkdir(parents=True)
        memory = Path("/dev/shm")
        self.root = Path(tempfile.mkdtemp(prefix="temper-", dir=memory if os.access(memory, os.W_OK) else folder))
        self._lay_out()
        self.port = _free_port()
        self.key = folder / "key"
        made = asyncssh.generate_private_key(kind)
        made.write_private_key(self.key)
        made.write_public_key(folder / "let-in")
        host_key = asyncssh.generate_private_key("ssh-ed25519")
        host_key.write_private_key(self.root / "etc/ssh/ssh_host_ed25519_key")
        host_key.write_public_key(self.root / "etc/ssh/ssh_host_ed25519_key.pub")
        (self.root / "etc/ssh/ssh_host_ed25519_key").chmod(0o600)
        self.host_key = host_key
        self.known_host = f"[{address}]:{self.port} {host_key.export_public_key().decode()}"
        self.enters()
        self._process: subprocess.Popen | None = None

    def start(self) -> "SshHost":
        options = {
            "Port": self.port,
            "ListenAddress": self.address,
            "HostKey": self.root / "etc/ssh/ssh_host_ed25519_key",
            "PidFile": self.root / "run/sshd.pid",
            "AuthorizedKeysFile": self.folder / "let-in",
            "StrictModes": "no",
            "UsePAM": "no",
            "PasswordAuthentication": "no",
            "PrintMotd": "no",
            "ForceCommand": self.folder / "enter",
        }
        said = [word for name, value in options.items() for word in ("-o", f"{name}={value}")]
        # Nobody's .bashrc has a part in this: it may be slow, and it may talk.
        bare = ["--tmpfs", str(Path.home()), "--bind", str(self.folder), str(self.folder)]
        own_run = [*self._within, "bwrap", "--dev-bind", "/", "/", *bare, "--tmpfs", "/run", "--dir", "/run/sshd"]
        self.log = (self.folder / "sshd.log").open("wb")
        config = self.root / "etc/ssh/sshd_config"
        self._process = subprocess.Popen([*own_run, SSHD, "-D", "-e", "-f", config, *said], stderr=self.log)
        self._until_it_listens()
        return self

    def stop(self) -> None:
        with suppress(ProcessLookupError, FileNotFoundError):
            self.cut(listener=True)
        self._process.wait()
        self.log.close()
        remove_tree(self.root)

    def endpoint(self, **changed: object) -> Endpoint:
        given = {"user": getpass.getuser(), "address": self.address, "port": self.port, "way": "key"}
        return Endpoint(**{**given, "secret_at": str(self.key), **changed})

    def enters(self, *, uid: int = 0, sudo: bool = True, small: str = "", full: bool = False) -> None:
        """As whom, whether with a sudo that works, and onto which disk: a small one, or where nothing can be added."""
        stand_in = self.folder / "sudo"
        stand_in.write_text(_SUDO if sudo else "#!/bin/sh\necho 'sudo: a password is required' >&2\nexit 1\n")
        stand_in.chmod(0o755)
        script = _ENTER.format(
            uid=uid, root=self.root, folder=self.folder, small=small, sudo=f"--ro-bind {stand_in} /usr/bin/sudo"
        )
        (self.folder / "full").write_text(_FULL) if full else (self.folder / "full").unlink(missing_ok=True)
        each = self.folder / "each"
        each.write_text(_EACH)
        each.chmod(0o755)
        enter = self.folder / "enter.new"
        enter.write_text(script)
        enter.chmod(0o755)
        enter.rename(self.folder / "enter")

    def talks(self, text: str) -> None:
        (self.folder / "talk").write_text(text)

    def cuts_after(self, commands: int, *, before: bool) -> None:
        """The connection dies at that script: before it runs, or once it is done and nobody heard of it."""
        (self.folder / "cuts.before").touch() if before else (self.folder / "cuts.before").unlink(missing_ok=True)
        (self.folder / "cuts").write_text(f"{commands}\n")

    def holds_at(self, commands: int) -> None:
        """That script stands still, once that many have run, until the host lets go."""
        (self.folder / "holds").write_text(f"{commands}\n")

    @property
    def held(self) -> bool:
        return (self.folder / "holds.here").exists()

    def lets_go(self) -> None:
        (self.folder / "holds").unlink()

    def heals(self) -> None:
        (self.folder / "cuts").unlink()

    @property
    def listener(self) -> int:
        return int((self.root / "run/sshd.pid").read_text())

    def cut(self, *, listener: bool = False) -> None:
        """Every connection dies at once, without a word; what runs on the host goes on."""
        pid = self.listener
        for child in _children(pid):
            for below in (*_children(child), child):
                with suppress(ProcessLookupError):
                    if _command(below) == "sshd":
                        os.kill(below, signal.SIGKILL)
        if listener:
            os.kill(pid, signal.SIGKILL)

    def ends_the_wait_of(self, journal: str) -> None:
        """The timer's time is over now, however long it is: a test need not race against it."""
        timer = int((self.root / "var/lib/temper/journal" / journal / "timer.pid").read_text())
        while not (waits := [pid for pid in _children(timer) if _command(pid) == "sleep"]):
            assert _command(timer) == "sh", "the timer is over already"
        os.kill(waits[0], signal.SIGKILL)

    @property
    def is_down(self) -> bool:
        """Whether nobody listens any more."""
        return self._process.poll() is not None

    def stop_listening(self) -> None:
        """Those who are logged in stay."""
        os.kill(self.listener, signal.SIGKILL)
        self._process.wait()

    def read(self, path: str) -> str:
        return (self.root / path[1:]).read_text()

    def everything(self) -> dict[str, tuple]:
        """Content and mode of what a change may touch."""
        found = {}
        for at in sorted((self.root / "etc").rglob("*")):
            with suppress(FileNotFoundError):  # the host may be taking a change back meanwhile
                if at.is_symlink():
                    found[str(at)] = ("link", at.readlink())
                elif at.is_file():
                    mode = at.stat().st_mode
                    at.chmod(0o600)
                    found[str(at)] = (at.read_bytes(), mode)
                    at.chmod(mode & 0o7777)
                else:
                    found[str(at)] = ("folder", at.stat().st_mode)
        return found

    def _lay_out(self) -> None:
        for name in ("etc/ssh", "etc/rcS.d", "root", "home", "var/log", "var/lib", "run/sshd"):
            (self.root / name).mkdir(parents=True)
        for name in ("bin", "sbin", "lib", "lib64"):
            (self.root / name).symlink_to(f"usr/{name}")
        for path, state in FILES.items():
            at = self.root / path[1:]
            at.parent.mkdir(parents=True, exist_ok=True)
            if state.content:
                at.write_bytes(state.content)
                at.chmod(state.mode)
        (self.root / "etc/ssh/sshd_config").write_text(CONFIG)
        (self.root / "etc/motd").write_text(MOTD)
        with (self.root / "etc/passwd").open("a") as passwd:
            passwd.write("sshd:x:74:74::/run/sshd:/sbin/nologin\n")
        with (self.root / "etc/shadow").open("a") if os.getuid() == 0 else _opened(self.root / "etc/shadow") as shadow:
            shadow.write("sshd:!!:1::::::\n")
        (self.root / "var/log/secure").write_text("Nov 21 sshd[1]: Invalid user \x1b[31mroot\x1b[0m\n")

    def _until_it_listens(self) -> None:
        while True:
            assert self._process.poll() is None, (self.folder / "sshd.log").read_text()
            if not (self.root / "run/sshd.pid").exists():
                time.sleep(GLANCE)
                continue
            if self._within:  # from here nobody can ask; it has begun to listen before it writes its number
                return
            with socket.socket() as asked:
                if asked.connect_ex((self.address, self.port)) == 0:
                    return


def _opened(path: Path):
    path.chmod(0o600)
    file = path.open("a")
    path.chmod(0)
    return file


def _free_port() -> int:
    with socket.socket() as asked:
        asked.bind(("127.0.0.1", 0))
        return asked.getsockname()[1]


def _children(pid: int) -> list[int]:
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except FileNotFoundError:
        return []


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def needs() -> None:
    """Told in words, instead of being skipped."""
    missing = [name for name in (SSHD, "bwrap", "unshare") if not shutil.which(name)]
    assert not missing, f"these tests need {', '.join(missing)}: .ci/tools installs them"


@contextmanager
def ssh_host(folder: Path, kind: str = QUICK) -> Iterator[SshHost]:
    needs()
    host = SshHost(folder, kind=kind).start()
    try:
        yield host
    finally:
        host.stop()

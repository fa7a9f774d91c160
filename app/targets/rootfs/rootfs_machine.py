"""A disposable machine: an overlay on a base image, with an sshd on loopback."""

import re
import shutil
from pathlib import Path

from app.errors import BadInput, EnvironmentUnusable
from app.targets.rootfs.base_image_builder import build_and_unpack_new_base, create_login_keys, run_command_or_raise
from app.targets.rootfs.base_image_definition import BaseImage
from app.targets.rootfs.loopback_sshd_port_and_known_hosts import (
    SshAccess,
    can_reach_sshd_within,
    choose_port,
    format_known_hosts,
)
from app.targets.rootfs.pid_file_process import DetachedProcess
from app.targets.rootfs.requirements import (
    build_namespace_command,
    create_namespace_owned_folder,
    list_missing_requirements,
)
from app.text.clean import clean_text

_HERE = Path(__file__).parent
_NAME = re.compile(r"[a-z][a-z0-9-]{0,30}")
_RESERVED = ("bases", "trial")
_UP_SECONDS = 20.0


class Rootfs:
    def __init__(self, folder: Path, name: str) -> None:
        """`folder` holds all machines and base images; raise BadInput for an invalid name."""
        if not _NAME.fullmatch(name) or name in _RESERVED:
            raise BadInput(
                f"{name[:40]!a} is not a valid name for a machine: use a letter, then letters, digits and dashes."
            )
        self.name = name
        self._machines = folder.absolute()
        self.folder = self._machines / name
        self._process = DetachedProcess(self.folder / "pid")

    @property
    def is_built(self) -> bool:
        return (self.folder / "base").is_file()

    @property
    def is_up(self) -> bool:
        return self._process.is_alive

    @property
    def base_folder(self) -> Path:
        """The folder of the unchanged Debian files under the overlay."""
        self._require_built()
        return self._machines / "bases" / self._read_base_name()

    def get_access(self, account: str = "temper") -> SshAccess:
        key = self.folder / ("backup" if account == "root" else "temper")
        return SshAccess(self._require_saved_port(), account, key, self.folder / "known_hosts")

    def build(self, base: BaseImage) -> None:
        """Build the machine; the first build of a base image takes minutes."""
        if found := list_missing_requirements(self._machines):
            raise EnvironmentUnusable("A disposable machine cannot be built here. " + " ".join(found))
        if self.is_built:
            raise BadInput(f"{self.name} already exists; reset it with `temper rootfs reset {self.name}`.")
        if not (self._machines / "bases" / base.name).is_dir():
            build_and_unpack_new_base(self._machines, base, f"bases/{base.name}")
        create_namespace_owned_folder(self.folder)
        create_login_keys(self.folder, self.name)
        self._seed_layer(base.name)
        (self.folder / "base").write_text(base.name)

    def start(self) -> SshAccess:
        """Start the machine in its own session; it runs until `stop`. Raise an error if sshd does not answer."""
        self._require_built()
        if self.is_up:
            return self.get_access()
        port = choose_port(self._require_saved_port() if (self.folder / "port").is_file() else 0)
        (self.folder / "port").write_text(str(port))
        keys = (self.folder / "host-keys").read_text().splitlines()
        (self.folder / "known_hosts").write_text(format_known_hosts(port, keys))
        command = ["sh", "-s", f"bases/{self._read_base_name()}", self.name, str(port)]
        self._process.start(
            build_namespace_command(self._machines, *command), _HERE / "start.sh", self.folder / "console.log"
        )
        if not can_reach_sshd_within(port, _UP_SECONDS, lambda: self.is_up):
            self.stop()
            told = clean_text((self.folder / "console.log").read_text(errors="replace")[-300:].strip(), 300)
            raise EnvironmentUnusable(f"{self.name} does not start: {told or 'it printed nothing'}")
        return self.get_access()

    def stop(self) -> None:
        """Stop the machine; no process of it is left."""
        self._process.kill_tree()

    def reset(self) -> None:
        """Restore the machine to its built state, including its host keys."""
        self._require_built()
        was_up = self.is_up
        self.stop()
        self._seed_layer(self._read_base_name())
        if was_up:
            self.start()

    def discard(self) -> None:
        """Remove the machine; the base image stays."""
        self.stop()
        if self.folder.is_dir():
            parts = [f"{self.name}/{part}" for part in ("upper", "work", "root", "keys", "snapshots")]
            run_command_or_raise(self.name, build_namespace_command(self._machines, "rm", "-rf", *parts))
            shutil.rmtree(self.folder)

    def _require_built(self) -> None:
        if not self.is_built:
            raise BadInput(f"There is no machine {self.name}: build it with temper rootfs build {self.name}.")

    def _read_base_name(self) -> str:
        return (self.folder / "base").read_text().strip()

    def _seed_layer(self, base: str) -> None:
        words = ("sh", "-s", f"bases/{base}", self.name, (_HERE / "accounts.sh").read_text())
        with (_HERE / "seed.sh").open("rb") as script:
            run_command_or_raise(self.name, build_namespace_command(self._machines, *words), stdin=script.fileno())

    def _require_saved_port(self) -> int:
        return int((self.folder / "port").read_text())

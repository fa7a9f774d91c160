"""Reboots a host over SSH. A disposable machine has a snapshot and a console besides."""

import time
from collections.abc import Callable, Sequence
from typing import Protocol

from app.errors import ActionFailed, ConnectionLost, EnvironmentUnusable, TemperError
from app.targets.rebooter_protocol import BootPhase, BootStatus, RollbackResult
from app.targets.ssh.connection import SshConnection
from app.targets.ssh.mirrored_journal import MirroredJournal
from app.targets.ssh.shell_script import load_script
from app.targets.vm.virtual_machine import BEFORE_REBOOT
from app.text.clean import clean_text

_SECONDS = 20.0
_CONSOLE_LINES, _CONSOLE_CHARACTERS = 12, 6000
_LONGEST = 300
_TAKING_BACK = 4
_PHASES: dict[str, BootPhase] = {"initializing": "starting", "starting": "starting", "stopping": "stopping"}
"""By systemd's word. Every other one means that the start is over, whether all units came up or not."""


class MachineControl(Protocol):
    """A disposable machine, as app/targets/vm has it."""

    @property
    def is_up(self) -> bool: ...
    @property
    def has_emulated_processor(self) -> bool: ...
    def read_console(self, characters: int) -> str: ...
    def take_snapshot(self, label: str) -> None: ...
    def reset(self, label: str) -> None: ...
    def start(self) -> object: ...


class SshRebooter:
    def __init__(
        self,
        line: SshConnection,
        journals: MirroredJournal,
        roll_back: Callable[[str], RollbackResult],
        machine: MachineControl | None,
    ) -> None:
        self._line, self._journals, self._roll_back_once, self._machine = line, journals, roll_back, machine
        self.is_disposable = machine is not None

    @property
    def has_emulated_processor(self) -> bool:
        return self._machine is not None and self._machine.is_up and self._machine.has_emulated_processor

    @property
    def snapshot_name(self) -> str:
        return BEFORE_REBOOT if self._machine is not None and self._machine.is_up else ""

    @property
    def can_undo_alone(self) -> bool:
        return not self._journals.local_only

    def read_boot_status(self) -> BootStatus:
        other = self._line.create_independent_connection()
        try:
            said = other.run("booted", seconds=_SECONDS)
        except TemperError as exc:
            return BootStatus("away", reason=clean_text(str(exc), _LONGEST))
        finally:
            other.close()
        boot, *words = said.text.split() or [""]
        if said.code or not boot:
            return BootStatus("away", reason=f"it does not say how often it booted: {said.reason}")
        return BootStatus(_PHASES.get(words[0] if words else "", "up"), boot)

    def prepare(self, guard: str, seconds: int, journals: Sequence[str]) -> None:
        if seconds:
            names = "".join(f"{name}\n" for name in journals).encode()
            said = self._line.run("guard", guard, str(seconds), load_script("guarded"), data=names)
            if said.code:
                raise ActionFailed(f"{self._line.end} is not rebooted: {said.reason}.")
        if self.snapshot_name and self._machine:
            self._machine.take_snapshot(self.snapshot_name)

    def order(self) -> None:
        try:
            said = self._line.run("reboot")
        except ConnectionLost:
            return  # it goes down, or nothing was heard: the next look shows which
        finally:
            self._line.drop()
        if said.code:
            raise ActionFailed(f"{self._line.end} refuses to reboot: {said.reason}.")

    def confirm(self, guard: str) -> None:
        if self._journals.local_only:
            return
        said = self._line.run("confirm", guard)
        if said.code == _TAKING_BACK:
            raise ConnectionLost(f"{self._line.end}: {said.reason}.")
        if said.code:
            raise EnvironmentUnusable(f"{self._line.end}: {said.reason}.")

    def has_undone_any(self, journals: Sequence[str]) -> bool:
        if self._journals.local_only:
            return False
        undone = {one.name for one in self._journals.fetch_journals_from_host() if one.mark == "undone"}
        return not undone.isdisjoint(journals)

    def restore_snapshot(self) -> None:
        assert self._machine
        self._machine.reset(BEFORE_REBOOT)
        self._machine.start()
        self._line.drop()

    def undo(self, journals: Sequence[str]) -> RollbackResult:
        began, paths, left = time.monotonic(), dict[str, None](), list[str]()
        for name in journals:
            self._journals.reopen(name)
            undone = self._roll_back_once(name)
            paths |= dict.fromkeys(undone.paths)
            left += undone.differences
            if left:
                break  # an older change is not rolled back over what this one left
        return RollbackResult(tuple(paths), tuple(left), time.monotonic() - began)

    def forget_committed_pre_images(self) -> None:
        self._journals.forget_committed_pre_images()

    def read_console(self) -> tuple[str, ...]:
        if self._machine is None:
            return ()
        try:
            lines = self._machine.read_console(_CONSOLE_CHARACTERS).splitlines()
        except TemperError:  # the machine was deleted meanwhile
            return ()
        return tuple(clean_text(one, _LONGEST) for one in lines if one.strip())[-_CONSOLE_LINES:]

"""A monitor's side of QMP, on a real socket."""

import json
import socket
import threading
from contextlib import contextmanager

import pytest

from app.errors import EnvironmentUnusable
from app.targets.vm.qemu_monitor import SOCKET, open_monitor


@contextmanager
def qemu(folder, *answers):
    """Answer the commands after qmp_capabilities one by one; yield those that came."""
    came = []
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(str(folder / SOCKET))
        one.listen()

        def serve():
            with one.accept()[0] as client, client.makefile("rw") as lines:
                lines.write('{"QMP": {}}\n')
                for answer in ({"return": {}}, *answers):
                    lines.flush()
                    came.append(json.loads(lines.readline()))
                    lines.write('{"event": "STOP"}\n')
                    lines.write(json.dumps(answer) + "\n")
                lines.flush()

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield came
        finally:
            thread.join()


def test_events_between_a_command_and_its_answer_are_passed_over(tmp_path):
    with qemu(tmp_path, {"return": ""}) as came, open_monitor(tmp_path) as monitor:
        monitor.run_snapshot_command("savevm", "pristine")
    assert [one["execute"] for one in came] == ["qmp_capabilities", "human-monitor-command"]
    assert came[1]["arguments"] == {"command-line": "savevm pristine"}


def test_what_qemu_says_of_a_snapshot_is_why_it_failed(tmp_path):
    with (
        qemu(tmp_path, {"return": "Error: No\x1b[31m room\r\n"}),
        pytest.raises(EnvironmentUnusable, match="could not savevm one: Error: No room"),
        open_monitor(tmp_path) as monitor,
    ):
        monitor.run_snapshot_command("savevm", "one")


def test_a_refused_command_raises_its_reason(tmp_path):
    with (
        qemu(tmp_path, {"error": {"desc": "not now"}}),
        pytest.raises(EnvironmentUnusable, match="refused system_powerdown: not now"),
        open_monitor(tmp_path) as monitor,
    ):
        monitor.execute("system_powerdown")


def test_a_machine_that_does_not_run_has_no_monitor(tmp_path):
    with pytest.raises(EnvironmentUnusable, match="does not answer"), open_monitor(tmp_path):
        pass

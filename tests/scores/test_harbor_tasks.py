"""A task as another agent gets it: its own judge, apart from this package, says when it is done."""

import os
import subprocess
import sys
import tomllib

import pytest

from app.scores.generated_hosts import create_builtin_host, generate_host
from app.scores.harbor_tasks import export_harbor_tasks
from tests.unpacking import unpack_whole

WITHOUT_CHECKOUT = "import sys\nsys.meta_path = [one for one in sys.meta_path if 'editable' not in repr(one)]\n"


@pytest.fixture(scope="module")
def tasks(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tasks")
    return export_harbor_tasks(folder, ["V-257985", "V-257820"], [create_builtin_host(), generate_host("1", 1)])


def reward(task, host, logs):
    settings = {"TESTS": str(task / "tests"), "LOGS": str(logs), "HOST_ROOT": str(host)}
    alone = logs / "alone"
    alone.mkdir(parents=True, exist_ok=True)
    (alone / "sitecustomize.py").write_text(WITHOUT_CHECKOUT)
    shim = alone / "python3"
    shim.write_text(f'#!/bin/sh\nPYTHONPATH="${{PYTHONPATH:-}}:{alone}" exec {sys.executable} "$@"\n')
    shim.chmod(0o755)
    env = {**os.environ, **settings, "PATH": f"{alone}:{os.environ['PATH']}"}
    done = subprocess.run(["bash", task / "tests/test.sh"], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return (logs / "reward.txt").read_text().strip(), done.stdout


def laid_out(task, at):
    unpack_whole(task / "environment/host.tar", at)
    return at


def test_a_task_is_complete_and_says_what_is_wanted(tasks):
    assert [task.name for task in tasks] == [
        "v-257985-built-in",
        "v-257820-built-in",
        "v-257985-generated-1",
        "v-257820-generated-1",
    ]
    told = tomllib.loads((tasks[0] / "task.toml").read_text())
    assert told["task"]["name"] == "temper/v-257985-built-in"
    assert told["metadata"]["rule"] == "V-257985"
    assert "PermitRootLogin no" in (tasks[0] / "instruction.md").read_text()
    assert "host.tar" in (tasks[0] / "environment/Dockerfile").read_text()


def test_the_judge_rewards_a_fix_and_neither_idleness_nor_harm(tasks, tmp_path):
    root, dnf = tasks[0], tasks[1]
    host = laid_out(dnf, tmp_path / "dnf")
    assert reward(dnf, host, tmp_path / "logs")[0] == "0"
    conf = host / "etc/dnf/dnf.conf"
    conf.write_text(conf.read_text().replace("gpgcheck=0", "gpgcheck=1"))
    assert reward(dnf, host, tmp_path / "logs")[0] == "1"
    host = laid_out(root, tmp_path / "root")
    sshd = host / "etc/ssh/sshd_config"
    sshd.write_text(sshd.read_text().replace("PermitRootLogin yes", "PermitRootLogin no"))
    found, said = reward(root, host, tmp_path / "logs")
    assert found == "0"
    assert "backup-login" in said

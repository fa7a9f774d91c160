"""Temper as a service of a real systemd, by the lines that deploy/README.md prints: installed, started, killed,
upgraded, taken back and uninstalled, in a container whose process 1 is systemd."""

import re
import subprocess
import sys
import time

import pytest

import app
from app.targets.rootfs.base_image_definition import BaseImage
from tests.hosts.podman import Podman, make_dist, read_printed_block
from tests.unpacking import unpack_whole

pytestmark = [pytest.mark.real_host, pytest.mark.timeout(900)]

BASE = BaseImage(
    packages=("systemd", "systemd-sysv", "python3", "python3-venv", "sudo", "curl", "ca-certificates", "procps"),
    offers=(),
)
LATER = "99.0.0"
BIN = "/opt/temper/.venv/bin"
ENGINE = f"{BIN}/python -m app.engines.simulator --speed 0 --ports 8900,8901,8902"
HEALTHY = "curl --silent --fail http://127.0.0.1:8000/healthz"


class Service:
    def __init__(self, podman):
        self.podman = podman

    def attempt(self, line, given=""):
        return self.podman.attempt("exec", "-i", "--workdir", "/root", "debian", "sh", "-c", line, given=given)

    def ask(self, line, given=""):
        done = self.attempt(line, given)
        assert done.returncode == 0, f"{line}: {done.stderr}{done.stdout}"
        return done.stdout.strip()

    def wait_for(self, line):
        deadline = time.monotonic() + 90
        while self.attempt(line).returncode != 0:
            assert time.monotonic() < deadline, f"{line}: {self.read_log()}"

    def read_log(self):
        return self.attempt("journalctl --no-pager --unit temper.service").stdout

    def get(self, name):
        return self.ask(f"systemctl show --property {name} --value temper.service")

    def get_version(self):
        return re.findall(r"server started .*version=(\S+)", self.read_log())[-1]


def build_later_version(context, into):
    """A wheel of the same code that calls itself a later version."""
    unpack_whole(next((context / "dist").glob("*.tar.gz")), into)
    (tree,) = into.iterdir()
    file = tree / "app/__init__.py"
    file.write_text(file.read_text().replace(app.__version__, LATER))
    words = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-index", "--no-build-isolation", "-w", into, tree]
    subprocess.run(words, check=True, capture_output=True)
    return next(into.glob("*.whl"))


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    podman = Podman(tmp_path_factory.mktemp("podman"))
    make_dist(podman.context)
    podman.import_base(BASE, "localhost/debian")
    podman.run("run", "-d", "--name", "debian", "--privileged", "--systemd=always", "--network", "none",
               "localhost/debian", "/sbin/init")  # fmt: skip
    podman.run("cp", str(podman.context / "dist"), "debian:/root/dist")
    yield Service(podman)
    podman.remove_containers()


def test_it_is_installed_started_upgraded_taken_back_and_uninstalled(service, tmp_path):
    *make_account, create = read_printed_block("The units expect")
    for line in make_account:
        service.ask(line)
    service.ask(create.replace("NAME", "ada"), "a long password of nobody\n" * 2)

    show, enable = read_printed_block("With a model that already runs")
    service.ask(f"{show} && systemd-analyze verify /etc/systemd/system/temper.service")
    service.ask(f"{enable} --no-block")
    service.wait_for("journalctl --unit temper.service | grep 'does not answer\\|could not\\|cannot'")
    assert service.attempt(HEALTHY).returncode != 0
    service.ask(f"systemd-run --unit engine {ENGINE}")
    service.wait_for(HEALTHY)
    assert service.get_version() == app.__version__
    assert service.ask("ps -o user= -p " + service.get("MainPID")) == "temper"
    outside = service.attempt(f"nsenter --mount --target {service.get('MainPID')} touch /usr/x /opt/x /root/x")
    assert outside.stderr.count("Read-only file system") == 3

    before = service.get("MainPID")
    service.ask(f"kill -KILL {before}")
    service.wait_for(f'[ "$(systemctl show --property MainPID --value temper.service)" != {before} ] && {HEALTHY}')

    service.podman.run("restart", "debian")
    service.wait_for(f"systemd-run --unit engine {ENGINE}")
    service.wait_for(HEALTHY)

    service.ask("mkdir earlier && mv dist/temper_stig-*.whl earlier/")
    later = build_later_version(service.podman.context, tmp_path)
    service.podman.run("cp", str(later), "debian:/root/dist/")
    for line in read_printed_block("To upgrade, stop it"):
        service.ask(line)
    service.wait_for(HEALTHY)
    assert service.get_version() == LATER
    service.ask(create.replace("NAME", "eve"), "a long password of nobody\n" * 2)

    for line in read_printed_block("To go back"):
        service.ask(line)
    service.wait_for(HEALTHY)
    assert service.get_version() == app.__version__
    people = service.ask(f"sudo -u temper {BIN}/temper admin list --data /var/lib/temper/data")
    assert "ada" in people
    assert "eve" not in people

    for line in read_printed_block("To uninstall it"):
        service.ask(line)
    assert service.attempt(HEALTHY).returncode != 0
    assert service.attempt("pgrep --full [t]emper.serve").returncode == 1
    assert service.ask("systemctl --failed --quiet --no-legend; ls /opt /var/lib/temper 2>&1; true") == (
        "ls: cannot access '/var/lib/temper': No such file or directory\n/opt:"
    )

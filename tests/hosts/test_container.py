"""The container image, built and started by the lines that deploy/README.md prints, on a Debian that stands in for
Python's official image: without a network, read-only, without root."""

import json
import os
import shlex
import shutil
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from app.targets.rootfs.base_image import BaseImage
from tests.hosts.conftest import KEPT

pytestmark = [pytest.mark.real_host, pytest.mark.timeout(600)]

HERE = Path(__file__).parents[2]
BASE = BaseImage(
    packages=("python3", "python3-pip", "python-is-python3", "ca-certificates"),
    offers=(),
    hooks=('--customize-hook=rm -f "$1"/usr/lib/python3*/EXTERNALLY-MANAGED',),
)
OFFICIAL = "docker.io/library/python:3.11-slim-bookworm"
PASSWORD = "a long password of nobody"


class Podman:
    """Podman with images, containers and volumes of its own; it runs commands as a person types them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        storage, settings = folder / "storage.conf", folder / "containers.conf"
        storage.write_text(f'[storage]\ndriver = "overlay"\ngraphroot = "{folder}/images"\nrunroot = "{folder}/run"\n')
        settings.write_text(
            '[containers]\ndefault_ulimits = ["nofile=1024:1024", "nproc=4096:4096"]\n'
            '[engine]\nruntime = "runc"\n'
            f'cgroup_manager = "cgroupfs"\nevents_logger = "file"\nvolume_path = "{folder}/volumes"\n'
            f'static_dir = "{folder}/static"\ntmp_dir = "{folder}/tmp"\n'
        )
        self._environment = {
            **os.environ,
            "CONTAINERS_STORAGE_CONF": str(storage),
            "CONTAINERS_CONF": str(settings),
            "BUILDAH_ISOLATION": "chroot",
        }

    def run(self, *words: str, given: str = "", is_without_network: bool = False) -> str:
        done = self.attempt(*words, given=given, is_without_network=is_without_network)
        assert done.returncode == 0, done.stderr + done.stdout
        return done.stdout.strip()

    def attempt(
        self, *words: str, given: str = "", is_without_network: bool = False
    ) -> subprocess.CompletedProcess[str]:
        before = ("unshare", "--net") if is_without_network else ()
        return subprocess.run(
            [*before, "podman", *words],
            capture_output=True,
            text=True,
            check=False,
            timeout=500,
            input=given,
            cwd=self.folder / "context",
            env=self._environment,
        )


def printed(beginning, ending=""):
    """The words after podman of the one line in deploy/README.md that begins and ends so."""
    lines = [line.strip() for line in (HERE / "deploy/README.md").read_text().splitlines()]
    (line,) = [line for line in lines if line.startswith(f"podman {beginning}") and line.endswith(ending)]
    return shlex.split(line)[1:]


@pytest.fixture(scope="module")
def podman(tmp_path_factory):
    assert os.geteuid() == 0, "run this test as root, so that the build can be cut from the network"
    made = Podman(tmp_path_factory.mktemp("podman"))
    context = made.folder / "context"
    (context / "deploy/temper").mkdir(parents=True)
    for name in ("requirements.lock", ".dockerignore", "LICENSE", "deploy/temper/Containerfile"):
        shutil.copyfile(HERE / name, context / name)
    subprocess.run([sys.executable, HERE / ".ci/dist", context / "dist"], check=True, capture_output=True)
    subprocess.run([HERE / ".ci/wheelhouse", context / "dist/wheelhouse"], check=True, capture_output=True)
    archive = KEPT / "containers" / f"{BASE.name}.tar"
    if not archive.exists():
        archive.parent.mkdir(parents=True, exist_ok=True)
        unfinished = archive.with_suffix(".part")
        subprocess.run(BASE.build_command(str(unfinished)), check=True, capture_output=True)
        unfinished.rename(archive)
    made.run("import", "--quiet", str(archive), OFFICIAL)
    digest = made.run("image", "inspect", OFFICIAL, "--format", "{{.Digest}}").removeprefix("sha256:")
    words = [word.replace("DIGEST", digest) for word in printed("build")]
    made.run(*words, is_without_network=True)
    yield made
    for name in made.run("ps", "--all", "--quiet").split():
        made.run("rm", "--force", name)


def test_it_serves_those_who_sign_in_read_only_and_without_root(podman):
    create = [word.replace("-it", "-i").replace("NAME", "ada") for word in printed("run --rm -it")]
    assert "ada can sign in" in podman.run(*create, given=f"{PASSWORD}\n{PASSWORD}\n")
    podman.run(*printed("run -d --name temper"))
    wait_for("http://127.0.0.1:8000/healthz", podman)
    podman.run("healthcheck", "run", "temper")
    assert podman.run("exec", "temper", "id", "--user", "--name") == "temper"
    written = podman.attempt("exec", "temper", "touch", "/var/lib/temper/x", "/opt/x", "/usr/x")
    assert written.stderr.count("Read-only file system") == 3
    podman.run("stop", "--time", "60", "temper")
    assert podman.run("inspect", "temper", "--format", "{{.State.ExitCode}}") == "0"
    podman.run("start", "temper")
    wait_for("http://127.0.0.1:8000/healthz", podman)
    assert "could be read by others" not in podman.attempt("logs", "temper").stderr
    podman.run("rm", "--force", "temper")
    assert podman.attempt("healthcheck", "run", "temper").returncode != 0


def test_a_run_fixes_a_rule_in_it(podman):
    *start, _ = printed("run --rm --network host", " demo")
    said = podman.run(*start, "run", "--rules", "V-257984", "--json", "--speed", "0")
    kinds = [json.loads(line)["kind"] for line in said.splitlines()]
    assert "item.passed" in kinds
    assert kinds[-1] == "run.finished"


def wait_for(address, podman):
    deadline = time.monotonic() + 60
    while True:
        try:
            with urllib.request.urlopen(address, timeout=5) as answer:
                return json.load(answer)
        except OSError:
            assert time.monotonic() < deadline, podman.attempt("logs", "temper").stderr

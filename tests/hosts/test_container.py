"""The container image, built and started by the lines that deploy/README.md prints, on a Debian that stands in for
Python's official image: without a network, read-only, without root."""

import json
import os
import time
import urllib.request

import pytest

from app.targets.rootfs.base_image_definition import BaseImage
from tests.hosts.podman import Podman, make_dist, read_printed_words

pytestmark = [pytest.mark.real_host, pytest.mark.timeout(600)]

BASE = BaseImage(
    packages=("python3", "python3-pip", "python-is-python3", "ca-certificates"),
    offers=(),
    hooks=('--customize-hook=rm -f "$1"/usr/lib/python3*/EXTERNALLY-MANAGED',),
)
OFFICIAL = "docker.io/library/python:3.11-slim-bookworm"
PASSWORD = "a long password of nobody"


@pytest.fixture(scope="module")
def podman(tmp_path_factory):
    assert os.geteuid() == 0, "run this test as root, so that the build can be cut from the network"
    made = Podman(tmp_path_factory.mktemp("podman"))
    make_dist(made.context)
    made.import_base(BASE, OFFICIAL)
    digest = made.run("image", "inspect", OFFICIAL, "--format", "{{.Digest}}").removeprefix("sha256:")
    words = [word.replace("DIGEST", digest) for word in read_printed_words("build")]
    made.run(*words, before=("unshare", "--net"))
    yield made
    made.remove_containers()


def test_it_serves_those_who_sign_in_read_only_and_without_root(podman):
    create = [word.replace("-it", "-i").replace("NAME", "ada") for word in read_printed_words("run --rm -it")]
    assert "ada can sign in" in podman.run(*create, given=f"{PASSWORD}\n{PASSWORD}\n")
    podman.run(*read_printed_words("run -d --name temper"))
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
    *start, _ = read_printed_words("run --rm --network host", " demo")
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

"""What a wheel holds is enough: installed alone, with nothing fetched, it serves the demo's run to its first pass."""

import json
import os
import re
import runpy
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

from app import __version__

HERE = Path(__file__).parent.parent
OFFLINE = ["--no-deps", "--no-index", "--quiet", "--disable-pip-version-check"]


def quietly(*command, cwd, **environment):
    done = subprocess.run(
        [str(word) for word in command],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
        cwd=cwd,
        env={"PATH": os.environ["PATH"], "HOME": str(cwd), **environment},
    )
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


def build_wheel(source, folder):
    folder.mkdir(exist_ok=True)
    shutil.rmtree(Path(source) / "build" / "lib", ignore_errors=True)  # would put modules into it that are gone
    quietly(sys.executable, "-m", "pip", "wheel", *OFFLINE, "--no-build-isolation", "-w", folder, source, cwd=folder)
    (wheel,) = folder.glob("temper_stig-*.whl")
    return wheel


def list_files(wheel):
    return {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    return build_wheel(HERE, tmp_path_factory.mktemp("built"))


@pytest.fixture(scope="module")
def temper(tmp_path_factory, wheel):
    """The command of a bare environment that has the wheel and, beside it, what it depends on; not this checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    venv.create(folder / "bare", with_pip=False)
    python = folder / "bare" / "bin" / "python"
    quietly(sys.executable, "-m", "pip", "--python", python, "install", *OFFLINE, wheel, cwd=folder)
    # a path file inside a folder that a path file names is not read: the editable checkout stays out of it
    (python.parent.parent / "lib" / f"python3.{sys.version_info[1]}" / "site-packages" / "others.pth").write_text(
        sysconfig.get_path("purelib")
    )
    where = quietly(python, "-c", "import app; print(app.__file__)", cwd=folder)
    assert str(folder) in where
    return python.parent / "temper"


def test_it_has_every_file_of_the_package(wheel):
    tracked = subprocess.run(
        ["git", "ls-files", "-z", "app", "temper_client"], cwd=HERE, capture_output=True, check=True
    )
    assert set(filter(None, tracked.stdout.decode().split("\0"))) <= list_files(wheel)


def test_it_says_its_version(temper, tmp_path):
    assert quietly(temper, "--version", cwd=tmp_path) == f"temper {__version__}\n"


def test_it_knows_the_lineups(temper, tmp_path):
    assert "31B" in quietly(temper, "plan", "l4x4-nvfp4", cwd=tmp_path, COLUMNS="200")


def test_it_hardens_the_built_in_host(temper, tmp_path):
    words = ["run", "--rules", "V-257984", "--speed", "0", "--json", "--data", tmp_path / "data"]
    said = quietly(temper, *words, cwd=tmp_path)
    assert '"item.passed"' in said
    assert '"run.finished"' in said


def test_it_holds_the_documentation(temper, tmp_path):
    quietly(temper.parent / "python", "-m", "app.web.pages.help", tmp_path / "help", cwd=tmp_path)
    assert "Temper documentation" in (tmp_path / "help" / "index.html").read_text()
    assert (tmp_path / "help" / "pictures" / "architecture.svg").is_file()
    assert len(list((tmp_path / "help" / "decisions").glob("*.html"))) > 40


def test_the_list_of_parts_has_each_pin_of_the_lock_and_all_browser_code():
    parts = json.loads(runpy.run_path(str(HERE / ".ci/dist"))["describe_parts"]("1.0", "0"))
    pins = re.findall(r"^([a-z0-9._-]+)(?:\[[a-z,]*\])?==(\S+)", (HERE / "requirements.lock").read_text(), re.MULTILINE)
    libraries = [one for one in parts["components"] if one["type"] == "library"]
    assert len(pins) > 40
    assert [(one["name"], one["version"]) for one in libraries] == pins
    vendored = {one["name"] for one in parts["components"] if one["type"] == "file"}
    assert vendored == {str(file.relative_to(HERE)) for file in (HERE / "app/static/vendor").rglob("*.js")}
    assert all(len(one["hashes"][0]["content"]) == 64 for one in parts["components"])


def test_a_build_of_the_same_commit_has_the_same_bytes_and_its_signature_holds(tmp_path):
    key, public = tmp_path / "key.pem", tmp_path / "key.pub"
    quietly("openssl", "genpkey", "-algorithm", "ed25519", "-out", key, cwd=tmp_path)
    quietly("openssl", "pkey", "-in", key, "-pubout", "-out", public, cwd=tmp_path)
    for name in ("a", "b"):
        quietly(sys.executable, HERE / ".ci/dist", tmp_path / name, cwd=tmp_path, SIGN_KEY=str(key))
    sums = (tmp_path / "a/SHA256SUMS").read_bytes()
    assert sums == (tmp_path / "b/SHA256SUMS").read_bytes()
    assert [line.split(".")[-1] for line in sums.decode().split()[1::2]] == ["whl", "json", "gz"]
    (archive,), (built,) = ((tmp_path / "a").glob(one) for one in ("*.tar.gz", "*.whl"))
    assert list_files(build_wheel(archive, tmp_path / "again")) == list_files(built)
    verify = ("openssl", "pkeyutl", "-verify", "-rawin", "-pubin", "-inkey", public, "-in", tmp_path / "a/SHA256SUMS")
    quietly(*verify, "-sigfile", tmp_path / "a/SHA256SUMS.sig", cwd=tmp_path)


def test_it_holds_the_client_with_its_types(temper, tmp_path):
    said = "import os, temper_client; print(sorted(os.listdir(temper_client.__path__[0])))"
    assert "'py.typed'" in quietly(temper.parent / "python", "-c", said, cwd=tmp_path)

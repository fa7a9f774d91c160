from dataclasses import replace

import pytest

from app.errors import EnvironmentUnusable
from app.targets.rootfs.base_image_definition import MIRROR_VARIABLE, BaseImage, require_configured_mirror

HERE = "http://debian.example.org/debian"
STANZAS = """\
# as the installer wrote it
Types: deb
# URIs: http://old.example.org/debian
URIs: http://sources.example.org/debian/
Suites: bookworm bookworm-updates
Components: main contrib

Types: deb
URIs: http://security.example.org/debian-security
Suites: trixie-security
Components: main

Types: deb-src
URIs: http://code.example.org/debian
Suites: trixie
Components: main

Enabled: no
Types: deb
URIs: http://off.example.org/debian
Suites: trixie
Components: main
"""


@pytest.fixture(autouse=True)
def _no_setting(monkeypatch):
    monkeypatch.delenv(MIRROR_VARIABLE, raising=False)


def write_apt(folder, **files):
    (folder / "sources.list.d").mkdir()
    for name, text in files.items():
        place = folder / "sources.list" if name == "main" else folder / "sources.list.d" / name.replace("__", ".")
        place.write_text(text)
    return folder


def test_the_same_ingredients_are_the_same_base_and_others_are_not():
    base = BaseImage(mirror=HERE)
    others = [replace(base, packages=(*base.packages, "vim")), replace(base, suite="trixie"), replace(base, mirror="m")]
    assert BaseImage(mirror=HERE).name == base.name
    assert len({one.name for one in [base, *others]}) == 4


def test_of_the_next_release_comes_the_content_alone():
    command = BaseImage("bookworm", mirror=HERE).build_command("/b.tar")
    hook = next(word for word in command if word.startswith("--setup-hook"))
    assert command[-4:] == ["bookworm", "/b.tar", f"deb {HERE} bookworm main", f"deb {HERE} trixie main"]
    assert r"Package: *\nPin: release n=trixie\nPin-Priority: 1\n" in hook
    assert r"Package: ssg-debian\nPin: release n=trixie\nPin-Priority: 990\n" in hook
    assert not [word for word in BaseImage("forky", mirror=HERE).build_command("/b.tar") if "setup-hook" in word]


def test_the_mirror_is_the_one_that_this_machine_uses_for_the_suite(tmp_path):
    lines = (
        "# deb http://no.example.org/debian trixie main\ndeb [arch=amd64] http://line.example.org/debian trixie main\n"
    )
    apt = write_apt(tmp_path, main=lines, debian__sources=STANZAS)
    assert require_configured_mirror("trixie", apt) == "http://line.example.org/debian"
    assert require_configured_mirror("bookworm", apt) == "http://sources.example.org/debian"


def test_a_mirror_of_another_release_has_the_suite_too(tmp_path):
    apt = write_apt(tmp_path, debian__sources=STANZAS)
    assert require_configured_mirror("trixie", apt) == "http://sources.example.org/debian"


def test_the_environment_goes_first(tmp_path, monkeypatch):
    monkeypatch.setenv(MIRROR_VARIABLE, f"{HERE}/")
    assert require_configured_mirror("bookworm", write_apt(tmp_path, debian__sources=STANZAS)) == HERE
    assert BaseImage("trixie").build_command("/b.tar")[-1] == f"deb {HERE} trixie main"


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"other__list": "deb http://tools.example.org/apt stable main\n"},
        {"other__list": "deb http://parts.example.org/debian bookworm contrib\n"},
    ],
)
def test_without_a_mirror_it_says_what_to_set(tmp_path, files):
    with pytest.raises(EnvironmentUnusable, match=f"Set {MIRROR_VARIABLE} to the address"):
        require_configured_mirror("bookworm", write_apt(tmp_path, **files))

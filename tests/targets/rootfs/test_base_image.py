from dataclasses import replace

from app.targets.rootfs.base_image import BaseImage


def test_the_same_ingredients_are_the_same_base_and_others_are_not():
    base = BaseImage()
    others = [replace(base, packages=(*base.packages, "vim")), replace(base, suite="trixie"), replace(base, mirror="m")]
    assert BaseImage().name == base.name
    assert len({one.name for one in [base, *others]}) == 4


def test_of_the_next_release_comes_the_content_alone():
    command = BaseImage("bookworm").build_command("/b.tar")
    hook = next(word for word in command if word.startswith("--setup-hook"))
    assert command[-4:] == [
        "bookworm",
        "/b.tar",
        "deb http://deb.debian.org/debian bookworm main",
        "deb http://deb.debian.org/debian trixie main",
    ]
    assert r"Package: *\nPin: release n=trixie\nPin-Priority: 1\n" in hook
    assert r"Package: ssg-debian\nPin: release n=trixie\nPin-Priority: 990\n" in hook
    assert not [word for word in BaseImage("forky").build_command("/b.tar") if "setup-hook" in word]

"""Our reading of pwquality.conf and its folder against libpwquality's own."""

import ctypes
import tempfile
from pathlib import Path
from random import Random

from app.targets.effects.daemon_base import UNSET
from app.targets.effects.pwquality import DEFAULTS, FOLDER, MAIN, READ, Pwquality
from tests.differential.harness import tally
from tests.differential.wall import differing, host
from tests.thorough import examples

NUMBERS = {
    "difok": 1,
    "minlen": 3,
    "dcredit": 4,
    "ucredit": 5,
    "lcredit": 6,
    "ocredit": 7,
    "minclass": 8,
    "maxrepeat": 9,
    "maxclassrepeat": 11,
    "gecoscheck": 12,
    "maxsequence": 14,
    "dictcheck": 15,
    "usercheck": 16,
    "enforcing": 17,
    "retry": 18,
    "enforce_for_root": 19,
    "local_users_only": 20,
    "usersubstr": 21,
}
SWITCHES = ("gecoscheck", "dictcheck", "usercheck", "enforcing")
WORDS = {"badwords": 13}
NAMES = ("50-site", "a", "B", "c", "10-x", ".hidden", "z")
VALUES = ("0", "1", "3", "-1", "9", "15", "128", "016", "+14", "0x10", "x", "", "99999999999", "-1 2", "= 3", "2 # c")


def line(random: Random) -> str:
    key = random.choice((*NUMBERS, *WORDS, "foo") if random.random() < 0.1 else tuple(NUMBERS))
    value = random.choice(VALUES if random.random() < 0.2 else VALUES[:8])
    between = random.choice(("=", " = ", " ", "\t=\t", "= "))
    written = random.choice((key, key, key, key.upper(), key.capitalize()))
    return random.choice(
        (
            *([f"{written}{between}{value}"] * 8),
            f"  {written}{between}{value}  ",
            f"#{written}{between}{value}",
            f"{written}{between}{value}#{value}",
            "",
            "   ",
            f"{written}{between}{value}\r",
        )
    )


def trial(random: Random) -> list[str]:
    texts = {MAIN: "\n".join(line(random) for _ in range(random.randrange(6))) + random.choice(("", "\n"))}
    for name in random.sample(NAMES, random.randrange(4)):
        end = random.choice((".conf", ".conf", ".conf", ".bak"))
        texts[FOLDER.replace("*.conf", name + end)] = "\n".join(line(random) for _ in range(random.randrange(4)))
    ours = {key: value for key, value in Pwquality().read_settings(host(texts)).items() if key != "dictpath"}
    return differing(texts, ours, theirs(texts))


def theirs(texts: dict[str, str]) -> dict[str, str]:
    library = ctypes.CDLL("libpwquality.so.1")
    library.pwquality_default_settings.restype = ctypes.c_void_p
    settings, fault = ctypes.c_void_p(library.pwquality_default_settings()), ctypes.c_void_p()
    with tempfile.TemporaryDirectory() as folder:
        for path, text in texts.items():
            at = Path(folder + path)
            at.parent.mkdir(parents=True, exist_ok=True)
            at.write_bytes(text.encode())
        code = library.pwquality_read_config(settings, (folder + MAIN).encode(), ctypes.byref(fault))
    found = {READ: "no" if code else "yes"}
    for key, number in NUMBERS.items():
        held = ctypes.c_int()
        assert library.pwquality_get_int_value(settings, number, ctypes.byref(held)) == 0
        found[key] = str(min(abs(held.value), 1) if key in SWITCHES else held.value)
    for key, number in WORDS.items():
        text = ctypes.c_char_p()
        assert library.pwquality_get_str_value(settings, number, ctypes.byref(text)) == 0
        found[key] = (text.value or UNSET.encode()).decode()
    library.pwquality_free_settings(settings)
    return found


TRIALS = {"reading": trial}


def test_our_reading_is_the_librarys():
    assert tally(trial, examples(130)).differences == ()


def test_every_key_of_the_library_is_known():
    assert set(DEFAULTS) == {*NUMBERS, *WORDS, "dictpath", READ}


def test_the_file_itself_is_read_last():
    """A drop-in may not be trusted to hold against it."""
    texts = {MAIN: "minlen = 12\n", FOLDER.replace("*", "50-site"): "minlen = 20\n"}
    assert theirs(texts)["minlen"] == Pwquality().read_settings(host(texts))["minlen"] == "12"

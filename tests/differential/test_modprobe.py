"""Our reading of modprobe.d against modprobe's own, on generated trees of overlapping folders."""

from functools import cache
from random import Random

from app.syntax import modprobe
from app.targets.effects import drop_ins
from app.targets.effects.modprobe_settings import END, evaluate_module_lines
from tests.differential.harness import tally
from tests.differential.wall import differing, host, laid_out, said
from tests.thorough import examples

FOLDERS = ("/etc/modprobe.d", "/run/modprobe.d", "/usr/lib/modprobe.d")
NAMES = ("10-a", "50-b", "sctp", "usb-storage", "A", ".hidden", "9")
MODULES = ("sctp", "usb-storage", "usb_storage", "cramfs", "us*", "can-[a-z]", "*")
COMMANDS = ("/bin/false", "/bin/true", "/usr/bin/false", "/sbin/modprobe --ignore-install sctp", "/bin/false # x", "")


def line(random: Random) -> str:
    module, command = random.choice(MODULES), random.choice(COMMANDS)
    blank = random.choice((" ", " ", "  ", "\t"))
    text = random.choice(
        (
            *([f"install{blank}{module}{blank}{command}"] * 5),
            *([f"blacklist{blank}{module}"] * 3),
            f"options{blank}{module} a=1{blank}b=2",
            f"alias{blank}net-pf-10{blank}{module}",
            f"#install {module} {command}",
            f" # blacklist {module}",
            f"  install {module} {command}",
            f"blacklist {module} {command}",
            f"install {module}",
            "blacklist",
            "",
            f"remove {module} {command}",
            f"softdep {module} pre: can",
            f"unknown {module} x",
        )
    )
    return random.choice(
        (*([text] * 12), text + "\\", text[:7] + "\\\n" + text[7:], text + "\\\\", "x\\" + text, text + "\r")
    )


def trial(random: Random) -> list[str]:
    texts = {}
    for folder in FOLDERS:
        for name in random.sample(NAMES, random.randrange(3)):
            end = random.choice((".conf", ".conf", ".conf", ".conf.bak"))
            texts[f"{folder}/{name}{end}"] = "\n".join(line(random) for _ in range(random.randrange(5))) + "\n"
    vendor = {"/usr/lib/modprobe.d/00-none.conf": "", **{p: t for p, t in texts.items() if p.startswith(FOLDERS[2])}}
    texts = {path: text for path, text in texts.items() if path not in vendor}
    lines = [
        x
        for text in drop_ins.read_drop_in_texts("modprobe.d", host({**texts, **vendor}))
        for x in modprobe.parse_module_lines(text, "")
    ]
    return differing({**texts, **vendor}, evaluate_module_lines(lines), theirs(texts, vendor))


def theirs(texts: dict[str, str], vendor: dict[str, str]) -> dict[str, str]:
    with laid_out(texts, vendor) as wall:
        _code, output = said([*wall, "/sbin/modprobe", "-c"])
    dumped = output[: output.index(END)].split("\n")
    for known in of_this_kernel():
        dumped.remove(known)
    return evaluate_module_lines(modprobe.parse_modprobe_dump("\n".join(dumped)))


@cache
def of_this_kernel() -> tuple[str, ...]:
    """What its command line says of modules."""
    with laid_out({}, {"/usr/lib/modprobe.d/00-none.conf": ""}) as wall:
        _code, output = said([*wall, "/sbin/modprobe", "-c"])
    return tuple(line for line in output[: output.index(END)].split("\n") if line)


TRIALS = {"reading": trial}


def test_our_reading_is_modprobes():
    assert tally(trial, examples(70)).differences == ()

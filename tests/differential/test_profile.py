"""What bash and sh make of TMOUT, umask and PATH at a login, against our reading of the scripts."""

from random import Random

from app.targets.effects.shell_profile import LOGIN, ShellProfile
from tests.differential.harness import tally
from tests.differential.wall import host, laid_out, said, told
from tests.thorough import examples

LOOP = 'for script in /etc/profile.d/*.sh; do\n    [ -r "$script" ] && . "$script"\ndone\nunset script\n'
NAMES = ("a", "b", "tmout", "zz", "10-x")
SCRIPTS = (
    "TMOUT={}\n",
    "export TMOUT={}\n",
    "readonly TMOUT={}\n",
    "declare -xr TMOUT={}\n",
    "typeset -r TMOUT={}\n",
    "TMOUT={}; readonly TMOUT; export TMOUT\n",
    "readonly TMOUT\n",
    "export TMOUT\n",
    "unset TMOUT\n",
    "# TMOUT={}\n",
    "if [ -d /usr ]; then A=1; fi\nTMOUT='{}'\n",
    'TMOUT="{}" # seconds\n',
    "A=1\n",
    "return 0\nTMOUT={}\n",
    "\n",
)
ASKED = 'F=""; case "$(readonly -p)" in *" TMOUT"*) F=" for good";; esac; echo "=${TMOUT:-never}$F="'


def script(random: Random) -> str:
    return "".join(random.choice(SCRIPTS).format(random.choice((0, 300, 600, 900))) for _ in range(random.randrange(3)))


def trial(random: Random) -> list[str]:
    texts = {LOGIN: script(random).replace("return 0\n", "") + LOOP + script(random)}
    for name in random.sample(NAMES, random.randrange(4)):
        texts[f"/etc/profile.d/{name}{random.choice(('.sh', '.sh', '.csh'))}"] = script(random)
    said_by_bash = theirs(texts)
    ours = ShellProfile().read_settings(host(texts))["TMOUT of a login"]
    # behind a `return` we only say what may be
    return [] if said_by_bash in ours.split(" or ") else [told(texts, "TMOUT", ours, said_by_bash)]


def theirs(texts: dict[str, str]) -> str:
    with laid_out(texts) as wall:
        _code, output = said([*wall, "/bin/bash", "-lc", f"{{ {ASKED}; }} 2>/dev/null"])
    return next((line.strip("=") for line in output.split("\n")[::-1] if line.startswith("=")), output)


DEBIAN = f". /etc/bash.bashrc\n{LOOP}"
REDHAT = f'{LOOP}[ -n "$BASH_VERSION" ] && [ -f /etc/bashrc ] && . /etc/bashrc\n'
MASKS = (
    "umask {}\n",
    "umask -S {} >/dev/null\n",
    "if [ -d /nowhere ]; then umask {}; fi\n",
    "if [ -d /usr ]; then umask {}; else umask 000; fi\n",
    "f() {{ umask {}; }}\n",
    "( umask {} )\n",
    "umask >/dev/null # umask {}\n",
    "PATH=$PATH:/opt/x{}\n",
    "\n",
)


def masks(random: Random) -> str:
    return "".join(
        random.choice(MASKS).format(random.choice(("022", "0027", "77"))) for _ in range(random.randrange(4))
    )


def mask_trial(random: Random) -> list[str]:
    rest = random.choice(((DEBIAN, "/etc/bash.bashrc"), (REDHAT, "/etc/bashrc")))
    texts = {LOGIN: f"{masks(random)}{rest[0]}{masks(random)}", rest[1]: masks(random)}
    texts |= {f"/etc/profile.d/{name}.sh": masks(random) for name in random.sample(NAMES, random.randrange(4))}
    read = ShellProfile().read_settings(host(texts))
    found = []
    for shell, label in (("/bin/bash", "a login"), ("/bin/sh", "a login by sh")):
        if rest[0] == DEBIAN and shell == "/bin/sh":
            texts = {path: text.replace(". /etc/bash.bashrc\n", "", 1) for path, text in texts.items()}
        with laid_out(texts) as wall:
            _code, output = said([*wall, shell, "-lc", 'umask; echo "=$(umask)="'])
        theirs_ = next((line.strip("=") for line in output.split("\n")[::-1] if line.startswith("=")), output)
        ours = read[f"umask of {label}"]
        if f"{int(theirs_ or '0', 8):03o}" not in ours.split(" or "):
            found.append(told(texts, f"umask of {label}", ours, theirs_))
    return found


TRIALS = {"login": trial, "umask": mask_trial}


def test_our_reading_of_the_umask_is_that_of_bash_and_of_sh():
    assert tally(mask_trial, examples(60)).differences == ()


def test_our_reading_is_bashs():
    assert tally(trial, examples(100)).differences == ()

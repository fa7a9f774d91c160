"""What bash makes of TMOUT at a login, against our reading of the scripts."""

from random import Random

from app.targets.effects.profile import LOGIN, ShellProfile
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


TRIALS = {"login": trial}


def test_our_reading_is_bashs():
    assert tally(trial, examples(100)).differences == ()

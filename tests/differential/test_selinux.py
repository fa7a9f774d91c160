"""Our reading of /etc/selinux/config against libselinux's."""

from random import Random

from app.targets.effects.selinux import PATH, Selinux
from tests.differential.harness import tally
from tests.differential.wall import differing, host, laid_out, said

ASKED = (
    "import ctypes;l=ctypes.CDLL('libselinux.so.1');m=ctypes.c_int(9);t=ctypes.c_char_p();"
    "a=l.selinux_getenforcemode(ctypes.byref(m));b=l.selinux_getpolicytype(ctypes.byref(t));"
    "print('said',a,m.value,b,(t.value or b'').decode('utf-8','replace'))"
)
WORDS = {"1": "enforcing", "0": "permissive", "-1": "disabled"}
LINES = (
    "SELINUX=enforcing",
    "SELINUX=permissive",
    "SELINUX=disabled",
    "SELINUX=Enforcing",
    "SELINUX = enforcing",
    " SELINUX=permissive",
    "selinux=permissive",
    "SELINUX=enforcingly",
    "SELINUX=on",
    "SELINUX=",
    "# SELINUX=disabled",
    "SELINUXTYPE=targeted",
    "SELINUXTYPE=mls",
    " SELINUXTYPE=minimum",
    "SELINUXTYPE=mls # c",
    "SELINUXTYPE=mls;",
    "selinuxtype=mls",
    "SELINUXTYPE = mls",
    "#SELINUXTYPE=mls",
    "",
)


def trial(random: Random) -> list[str]:
    texts = {PATH: "\n".join(random.choice(LINES) for _ in range(random.randrange(6))) + "\n"}
    with laid_out(texts) as wall:
        _code, output = said([*wall, "/usr/bin/python3", "-c", ASKED])
    _said, failed, mode, _failed, policy = output.strip().split(" ", 4)
    theirs = {"SELINUX": WORDS[mode] if failed == "0" else "disabled", "SELINUXTYPE": policy}
    ours = dict(Selinux().read_settings(host(texts)))
    return differing(texts, {key: ours[key] for key in theirs}, theirs)


TRIALS = {"reading": trial}


def test_our_reading_is_the_librarys():
    assert tally(trial, 100).differences == ()

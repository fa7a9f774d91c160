"""Sudoers by chance: users, aliases, tags, Defaults of every scope, includes, and the ways a line may be broken."""

from collections.abc import Sequence
from random import Random

MAIN, FOLDER = "/etc/sudoers", "/etc/sudoers.d"
USERS = {"root": 0, "ops": 1000, "deploy": 1001, "kiosk": 1002}
GROUPS = {"root": (0, ()), "wheel": (10, ("ops",)), "dev": (20, ("deploy", "kiosk")), "ops": (1000, ())}
COMMANDS = ("/opt/t/a", "/opt/t/b", "/opt/t/less", "/opt/u/a")
"""What lies on the host of the trials."""
PASSWD = "".join(f"{name}:x:{uid}:{uid}::/home/{name}:/bin/sh\n" for name, uid in USERS.items())
GROUP = "".join(f"{name}:x:{gid}:{','.join(who)}\n" for name, (gid, who) in GROUPS.items())
_NAMES = (
    "ops",
    "deploy",
    "kiosk",
    "DEPLOY",
    "%wheel",
    "%dev",
    "%DEV",
    "#1001",
    "%#20",
    "ALL",
    "stranger",
    "%strangers",
)
_WHAT = (*COMMANDS, "/opt/t/", "/opt/t/*", "/opt/*/a", "/opt/t/a -x", '/opt/t/b ""', "/opt/t/b *", "sudoedit /etc/x")
_FLAGS = ("authenticate", "requiretty", "visiblepw", "use_pty", "env_reset", "noexec", "rootpw", "targetpw", "setenv")
_VALUES = ("timestamp_timeout=0", "timestamp_timeout=5", "timestamp_timeout=-1", "!timestamp_timeout", "passwd_tries=2")
_LISTS = (
    'env_keep += "A B"',
    "env_keep -= A",
    'env_keep = "C D"',
    "!env_keep",
    'env_delete += "X"',
    'env_check -= "TZ"',
)
_TAGS = ("NOPASSWD", "PASSWD", "NOEXEC", "EXEC", "SETENV", "NOSETENV", "LOG_INPUT", "NOLOG_OUTPUT", "MAIL", "FOLLOW")


class Maker:
    def __init__(self, random: Random) -> None:
        self.random = random
        self._aliases: dict[str, list[str]] = {"User": [], "Cmnd": [], "Runas": [], "Host": []}

    def tree(self) -> dict[str, str]:
        drops = self.random.choice(((), ("50-a",), ("a", "b.off", "c~", "90_z")))
        including = f"{self.random.choice('@#')}includedir {FOLDER}"
        texts = {f"{FOLDER}/{name}": self.text() for name in drops}
        return {MAIN: self.text() + f"{including}\n" + (self.text() if self.random.random() < 0.3 else ""), **texts}

    def text(self) -> str:
        return "".join(f"{self._spoilt(self.line())}\n" for _ in range(self.random.randint(1, 7)))

    def line(self) -> str:
        kind = self.random.random()
        if kind < 0.3:
            return self.defaults()
        return self.alias() if kind < 0.45 else self.grant()

    def grant(self) -> str:
        users = self.listed((*_NAMES, *self._aliases["User"]))
        specs = " : ".join(self._spec() for _ in range(self.random.choice((1, 1, 1, 2))))
        return f"{users}{self.random.choice((' ', chr(9), '  '))}{specs}"

    def _spec(self) -> str:
        hosts = self.listed(("ALL", "ALL", "ALL", "elsewhere", "10.0.0.0/8", *self._aliases["Host"]))
        # ALL stands alone: what it brings along, cvtsudoers would say of its whole list.
        alone = f"{self._tags()}{self._bang()}ALL"
        commands = (
            alone
            if self.random.random() < 0.2
            else ", ".join(self._command() for _ in range(self.random.choice((1, 1, 2, 3))))
        )
        return f"{hosts}{self.random.choice((' = ', '='))}{commands}"

    def _command(self) -> str:
        who = self.listed(("root", "ALL", "ops", "#0", *self._aliases["Runas"]))
        group = self.random.choice(("", "", ":ALL", " : dev"))
        runas = self.random.choice(("", f"({who}{group})", "(ALL:ALL)", "(ALL)", "(root)", "()", "(:dev)"))
        return f"{runas} {self._tags()}{self._bang()}{self.random.choice((*_WHAT, *self._aliases['Cmnd']))}".strip()

    def _tags(self) -> str:
        return "".join(f"{tag}:{self.random.choice(('', ' '))}" for tag in self._some(_TAGS))

    def defaults(self) -> str:
        options = [self._bang() + flag for flag in self._some(_FLAGS)] + self._some((*_VALUES, *_LISTS))
        scopes = (
            "",
            "",
            f":{self.listed((*_NAMES, *self._aliases['User']))}",
            ">root",
            "@elsewhere",
            "@ALL",
            "!/opt/t/a",
        )
        return f"Defaults{self.random.choice(scopes)} {', '.join(options or ['use_pty'])}"

    def alias(self) -> str:
        kind = self.random.choice(("User", "Cmnd", "Runas", "Host"))
        name = f"{kind.upper()}{len(self._aliases[kind])}"
        words = {
            "User": _NAMES,
            "Cmnd": (*_WHAT, "ALL"),
            "Runas": ("root", "ops", "ALL"),
            "Host": ("ALL", "elsewhere", "other"),
        }
        members = self.listed((*words[kind], *self._aliases[kind]))
        self._aliases[kind].append(name)
        return f"{kind}_Alias {name} = {members}"

    def listed(self, words: Sequence[str]) -> str:
        return ", ".join(self._bang() + self.random.choice(words) for _ in range(self.random.choice((1, 1, 1, 2, 3))))

    def _bang(self) -> str:
        return self.random.choice(("", "", "", "", "!", "!!"))

    def _some(self, words: Sequence[str]) -> list[str]:
        return self.random.sample(words, self.random.choice((0, 0, 1, 1, 2)))

    def _spoilt(self, line: str) -> str:
        """Most are left alone; a few are continued, commented, indented, or written with escapes."""
        if line.startswith("Defaults:"):
            return line  # broken within the list it is no longer Defaults
        at = self.random.choice([place for place, letter in enumerate(line) if letter == " "] or [0])
        return self.random.choice(
            [line] * 40
            + [
                f"{line[:at]} \\\n  {line[at:]}",
                f"{line[:at]} \\  \n{line[at:]}",
                f"{line} # {self.grant()}",
                f"# {line} \\",
                f"  {line}",
                f"\t#includedir {FOLDER}\n{line}",
                f"{line}\r",
                line.replace("deploy", "d\\x65ploy"),
                line.replace("/opt/t/a -x", r"/opt/t/a a\:b \, c"),
                f"{line},",
                f"{line} :",
                line.replace("=", "", 1),
            ]
        )

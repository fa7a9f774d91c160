"""PAM service files by chance: every control, jumps, substacks, includes, and lines that are odd, joined or broken."""

from random import Random

from app.syntax.pam import KINDS
from app.syntax.pam_lexer import CODES

SERVICES = ("login", "sudo", "common-a", "common-b", "other")
_EVENTS = {
    "auth": ("auth",),
    "account": ("acct",),
    "password": ("prechauthtok", "chauthtok"),
    "session": ("open_session",),
}
_LIKELY = (*("success",) * 12, "auth_err", "ignore", "user_unknown", "new_authtok_reqd", "abort")
_WORDS = ("required", "requisite", "sufficient", "optional", "REQUIRED", "Sufficient")
_ACTIONS = ("ignore", "ok", "done", "bad", "die", "reset", "1", "1", "2", "3", "02")


class Maker:
    def __init__(self, random: Random) -> None:
        self.random = random

    def folder(self) -> dict[str, str]:
        absent = self.random.choice((*(None,) * 12, "other", "login", "common-b"))
        return {f"/etc/pam.d/{name}": self._file(name) for name in SERVICES if name != absent}

    def _file(self, name: str) -> str:
        lines = [self._odd(self._line(name)) for _ in range(self.random.randint(1, 7))]
        return "\n".join(lines) + self.random.choice(("\n",) * 40 + ("", "\n\\", " \\\n", "\n# end \\\n"))

    def _line(self, name: str) -> str:
        kind = self.random.choice(("auth", "auth", "auth", "account", "account", "password", "session"))
        if name in ("login", "sudo") and self.random.random() < 0.3:
            included = self.random.choice(
                ("common-a", "common-b", "common-b", "/etc/pam.d/common-a", "common-b", "none")
            )
            how = self.random.choice((f"{kind} include", f"{kind} substack", f"{kind} substack", "@include"))
            return f"{how} {included}"
        dash = self.random.choice(("", "", "", "-"))
        return f"{dash}{self._cased(kind)}{self._gap()}{self._control()}{self._gap()}{self._module(kind)}"

    def _control(self) -> str:
        if self.random.random() < 0.55:
            return self.random.choice(_WORDS)
        pairs = [self._pair() for _ in range(self.random.choice((0, 1, 1, 2, 2, 3)))]
        return f"[{self.random.choice((' ', '  ')).join(pairs)}]"

    def _pair(self) -> str:
        code = self.random.choice(("success", "default", "auth_err", "ignore", self.random.choice(CODES)))
        return f"{code}{self.random.choice(('=', '=', '=', '= ', ' ='))}{self.random.choice(_ACTIONS)}"

    def _module(self, kind: str) -> str:
        if self.random.random() < 0.15:
            return self.random.choice(("pam_deny.so", "pam_permit.so", "pam_nowhere.so"))
        code = self.random.choice((*_LIKELY, self.random.choice([one for one in CODES if one != "incomplete"])))
        given = self._gap().join(f"{event}={code}" for event in _EVENTS[kind])
        return f"pam_debug.so{self._gap()}{given}"

    def _cased(self, word: str) -> str:
        return self.random.choice((word, word, word, word.upper()))

    def _gap(self) -> str:
        return self.random.choice((" ", " ", "\t", "   "))

    def _odd(self, line: str) -> str:
        at = self.random.choice([place for place, letter in enumerate(line) if letter in " \t"] or [0])
        head, tail = line[:at], line[at:]
        return self.random.choice(
            [line] * 80
            + [
                f"{line} # and why",
                f"{line} \\ # and why",
                f"{head} \\\n{tail}",
                f"{head} \\  \n  {tail}",
                f"{head} \\\n# between\n\n{tail}",
                f"{head} \\ # no more\n{tail}",
                f"\\ #\n{line}",
                f"\\\n{line}",
                f"# {line} \\",
                f"  {line}",
                f"{line}\r",
                head,
                f"{self.random.choice(KINDS)}",
                f"{line} [one two] [",
                f"{line} [a\\]b]c",
                line.replace(" ", "\f", 1),
                line.replace("auth", "auht", 1),
                line.replace("=", "", 1),
                line.replace("[", "", 1),
                line.replace("]", "", 1),
                f"{line} {'x' * self.random.choice((900, 990, 1100, 2100))}",
                f"[{line.replace(' ', '] ', 1)}",
            ]
        )

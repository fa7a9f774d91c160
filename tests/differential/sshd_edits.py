"""Edits as a model makes them, and sshd asked about the files as they lie: no wall, since they were made here."""

import subprocess
from collections.abc import Callable
from pathlib import Path
from random import Random

from app.events.event_field_types import AppendLine, FileAction, RemoveLine, ReplaceLine, SetOption, WriteFile
from app.syntax.host_files_protocol import Files
from app.targets.effects.daemon_base import Ask, Query
from app.targets.program_sandbox import ProgramOutcome
from tests.differential.sshd_files import CIPHERS, KEX, MACS
from tests.hostfiles import DictFiles


def _words(text: str) -> list[str]:
    return text.split()


ETC = "/etc/ssh"
MAIN = f"{ETC}/sshd_config"
ACCOUNTS = {
    "/etc/passwd": "root:x:0:0:root:/root:/bin/bash\ndaemon:x:1:1:daemon:/usr/sbin:/usr/sbin/nologin\n",
    "/etc/group": "root:x:0:\ndaemon:x:1:\n",
}
YES_NO = ["yes", "no", "No", "YES"]
GOOD: dict[str, list[str]] = dict.fromkeys(
    _words("""
    allowagentforwarding allowstreamlocalforwarding allowtcpforwarding challengeresponseauthentication disableforwarding
    gatewayports gssapiauthentication gssapicleanupcredentials hostbasedauthentication ignorerhosts
    ignoreuserknownhosts kbdinteractiveauthentication kerberosauthentication kerberosticketcleanup
    passwordauthentication permitemptypasswords permittunnel permituserenvironment permituserrc printlastlog
    pubkeyauthentication strictmodes tcpkeepalive usedns usepam x11forwarding x11uselocalhost exposeauthinfo
    """),
    YES_NO,
) | {
    "banner": ["none", "/etc/issue", "/etc/motd"],
    "ciphers": [*CIPHERS, ",".join(CIPHERS[:3]), "-3des-cbc", "^aes256-ctr", "-*-ctr", "+aes128-ctr"],
    "clientalivecountmax": ["1", "3", "9"],
    "clientaliveinterval": ["60", "600", "10m", "999"],
    "compression": ["no", "delayed"],
    "kexalgorithms": [*KEX, "-*sha1", "^curve25519-sha256", "ecdh-sha2-nistp521"],
    "logingracetime": ["30", "120", "999", "2m"],
    "loglevel": ["INFO", "VERBOSE"],
    "macs": [*MACS, "-hmac-md5", "-*sha1*,umac-64*", "^hmac-sha2-512", "umac-128@openssh.com"],
    "maxauthtries": ["3", "4", "6", "10"],
    "maxsessions": ["3", "10"],
    "permitrootlogin": ["no", "prohibit-password", "forced-commands-only"],
    "rekeylimit": ["1G 1h", "4G none", "512M", "2G 30m"],
    "requiredrsasize": ["2048", "3072"],
    "syslogfacility": ["AUTH", "AUTHPRIV"],
}


class Linkless(DictFiles):
    def find_first_link(self, _path: str) -> str | None:
        return None


def edit(random: Random, texts: dict[str, str]) -> FileAction:
    path = random.choice([*texts, MAIN, f"{ETC}/sshd_config.d/00-new.conf"])
    keyword = random.choice(list(GOOD))
    value = random.choice(GOOD[keyword])
    name, between = random.choice([keyword, keyword.upper()]), random.choice([" ", "=", " = "])
    line = f"{random.choice(['', ' '])}{name}{between}{value}"
    lines = [one for one in texts.get(path, "").split("\n") if one.strip() and not one.startswith("#")]
    kinds: list[Callable[[], FileAction]] = [
        lambda: AppendLine(path=path, line=line),
        lambda: SetOption(path=path, key=keyword, value=value),
        lambda: WriteFile(path=path, content=_shuffled(random, texts.get(path, ""), line), mode="0600"),
    ]
    if lines:
        kinds += [
            lambda: RemoveLine(path=path, line=random.choice(lines)),
            lambda: ReplaceLine(path=path, old=random.choice(lines), new=line),
        ]
    return random.choice(kinds)()


def _shuffled(random: Random, text: str, line: str) -> str:
    lines = [*text.split("\n"), line]
    at, to = random.randrange(len(lines)), random.randrange(len(lines))
    lines[at], lines[to] = lines[to], lines[at]
    return "\n".join(lines) + "\n"


def unwalled(root: Path, wall: list[str], key: str) -> Ask:
    """The files under `root`, and every path that sshd is told of there too."""

    def moved(text: str) -> str:
        return text.replace("Include sshd_config.d", f"Include {ETC}/sshd_config.d").replace(ETC, f"{root}{ETC}")

    def ask(files: Files, question: Query) -> ProgramOutcome:
        for path in {path for pattern in question.staged for path in files.glob(pattern)}:
            at = Path(f"{root}{path}")
            at.parent.mkdir(parents=True, exist_ok=True)
            at.write_text(moved((files.read(path) or b"").decode()))
        words = [key if word.endswith("/hostkey") else moved(word) for word in question.arguments]
        done = subprocess.run(
            [*wall, question.program, *words], capture_output=True, text=True, check=False, cwd="/", timeout=30
        )
        return ProgramOutcome(done.returncode, done.stdout.replace(str(root), ""))

    return ask

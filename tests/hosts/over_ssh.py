"""The scanner's shell over the system's own ssh client, so that these tests rest on nothing of ours but the scanner."""

import asyncio
import shlex

from app.scanners.openscap.oscap_command import OscapResult
from app.targets.rootfs.loopback_sshd_port_and_known_hosts import SshAccess


class OverSsh:
    def __init__(self, at: SshAccess):
        self._at = at

    async def run(self, argv, timeout, stdin=b"", heard=None):  # noqa: ASYNC109
        ran = await self._ssh(shlex.join(["sudo", "-n", *argv]), timeout, stdin)
        for line in ran.stdout.splitlines() if heard else ():
            heard(line.decode("utf-8", "replace"))
        return ran

    async def read_file(self, path, limit):
        ran = await self._ssh(shlex.join(["sudo", "-n", "cat", path]), 60)
        return ran.stdout if ran.code == 0 else None

    async def write_file(self, path, content):
        command = f"umask 077; cat > {shlex.quote(path)}"
        await self._ssh(shlex.join(["sudo", "-n", "sh", "-c", command]), 60, content)

    async def may_log_in(self):
        return (await self._ssh("true", 20)).code == 0

    async def _ssh(self, line, seconds, stdin=b""):
        options = ["BatchMode=yes", "IdentitiesOnly=yes", "StrictHostKeyChecking=yes", "LogLevel=ERROR"]
        process = await asyncio.create_subprocess_exec(
            *("ssh", "-F", "none", "-p", str(self._at.port), "-i", str(self._at.key)),
            *(word for option in (*options, f"UserKnownHostsFile={self._at.known_hosts}") for word in ("-o", option)),
            *(f"{self._at.account}@127.0.0.1", line),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        async with asyncio.timeout(seconds):
            stdout, stderr = await process.communicate(stdin)
        return OscapResult(process.returncode, stdout, stderr)

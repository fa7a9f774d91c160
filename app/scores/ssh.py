"""Run commands on a disposable machine with the system's ssh client, independently of Temper's own connection."""

import asyncio
from asyncio.subprocess import Process
from dataclasses import dataclass

from app.errors import Unusable
from app.targets.rootfs.machine import Reachable


@dataclass(frozen=True)
class SshRan:
    code: int
    out: bytes
    told: str


_LIMIT = 64 * 1024


async def client(at: Reachable, line: str, account: str = "", limit: int = _LIMIT) -> Process:
    """Start ssh with three pipes; `limit` is the longest output that one read may wait for."""
    options = ["BatchMode=yes", "IdentitiesOnly=yes", "StrictHostKeyChecking=yes", "LogLevel=ERROR"]
    try:
        return await asyncio.create_subprocess_exec(
            *("ssh", "-F", "none", "-p", str(at.port), "-i", str(at.key)),
            *(word for option in (*options, f"UserKnownHostsFile={at.known_hosts}") for word in ("-o", option)),
            *(f"{account or at.account}@127.0.0.1", line),
            limit=limit,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
    except FileNotFoundError as exc:
        raise Unusable("there is no ssh client here: apt-get install openssh-client.") from exc


async def over_ssh(at: Reachable, line: str, seconds: float, stdin: bytes = b"", account: str = "") -> SshRan:
    process = await client(at, line, account)
    try:
        async with asyncio.timeout(seconds):
            out, told = await process.communicate(stdin)
    except TimeoutError:
        process.kill()
        await process.wait()
        return SshRan(124, b"", f"it took longer than {seconds:.0f} s")
    return SshRan(process.returncode or 0, out, told.decode("utf-8", "replace"))

"""Run commands on a disposable machine with the system's ssh client, independently of Temper's own connection."""

import asyncio
from asyncio.subprocess import Process
from dataclasses import dataclass

from app.errors import EnvironmentUnusable
from app.targets.rootfs.loopback_sshd_port_and_known_hosts import SshAccess


@dataclass(frozen=True)
class SshResult:
    code: int
    out: bytes
    error_text: str


_LIMIT = 64 * 1024


async def start_ssh_process(
    access: SshAccess, command: str, account: str = "", most_bytes_per_read: int = _LIMIT
) -> Process:
    """Start ssh with three pipes; `most_bytes_per_read` is the longest output that one read may wait for."""
    options = ["BatchMode=yes", "IdentitiesOnly=yes", "StrictHostKeyChecking=yes", "LogLevel=ERROR"]
    try:
        return await asyncio.create_subprocess_exec(
            *("ssh", "-F", "none", "-p", str(access.port), "-i", str(access.key)),
            *(word for option in (*options, access.known_hosts_option) for word in ("-o", option)),
            *(f"{account or access.account}@127.0.0.1", command),
            limit=most_bytes_per_read,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
    except FileNotFoundError as exc:
        raise EnvironmentUnusable("there is no ssh client here: apt-get install openssh-client.") from exc


async def run_over_ssh(
    access: SshAccess, command: str, seconds: float, stdin: bytes = b"", account: str = ""
) -> SshResult:
    process = await start_ssh_process(access, command, account)
    try:
        async with asyncio.timeout(seconds):
            out, told = await process.communicate(stdin)
    except TimeoutError:
        process.kill()
        await process.wait()
        return SshResult(124, b"", f"it took longer than {seconds:.0f} s")
    return SshResult(process.returncode or 0, out, told.decode("utf-8", "replace"))

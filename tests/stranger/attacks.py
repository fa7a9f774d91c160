"""What a stranger can send at a server that asks who comes. On loopback, bounded in number and time."""

import asyncio
import contextlib
import socket
import time
from dataclasses import dataclass
from urllib.parse import urlencode

CHUNK = b"x" * (256 * 1024)
AT_ONCE = 64


@dataclass(frozen=True)
class Target:
    port: int
    source: str = "127.0.0.2"
    """Another address of loopback than the operator's, so that each is a peer of its own."""


@dataclass(frozen=True)
class Told:
    asked: int
    taken: int
    """Connections that were let in, bytes that were read, passwords that were looked at."""
    seconds: float


async def nothing(seconds: float) -> Told:
    """What the same pages take on this machine while nobody attacks."""
    await asyncio.sleep(seconds)
    return Told(0, 0, seconds)


async def connections(target: Target, count: int, seconds: float) -> Told:
    """Opened, and nothing said."""
    return await _held(target, count, b"", seconds)


async def half_requests(target: Target, count: int, seconds: float) -> Told:
    """A head that never ends, a few bytes at a time."""
    return await _held(target, count, b"GET / HTTP/1.1\r\nhost: temper.example\r\nx-slow: ", seconds)


async def bodies(target: Target, count: int, size: int) -> Told:
    """Each of `size` bytes, chunked or with its length said, sent until it is refused."""
    begun, gate = time.monotonic(), asyncio.Semaphore(AT_ONCE)
    sent = await asyncio.gather(*(_body(target, size, gate, chunked=number % 2 == 0) for number in range(count)))
    return Told(count * size, sum(sent), time.monotonic() - begun)


async def passwords(target: Target, count: int) -> Told:
    """Wrong ones, for names that are there and names that are not."""
    begun, gate = time.monotonic(), asyncio.Semaphore(AT_ONCE)
    found = await asyncio.gather(*(_password(target, number, gate) for number in range(count)))
    return Told(count, found.count(403), time.monotonic() - begun)


async def _held(target: Target, count: int, head: bytes, seconds: float) -> Told:
    begun, held = time.monotonic(), []
    for _ in range(count):
        if opened := await _connected(target):
            held.append(opened)
            with contextlib.suppress(OSError):
                await asyncio.get_running_loop().sock_sendall(opened, head)
    while head and time.monotonic() - begun < seconds:
        for one in held:
            with contextlib.suppress(OSError):
                one.send(b"y")
        await asyncio.sleep(0.5)
    await asyncio.sleep(max(0.0, seconds - (time.monotonic() - begun)))
    taken = sum(_open(one) for one in held)
    for one in held:
        one.close()
    return Told(count, taken, time.monotonic() - begun)


async def _connected(target: Target) -> socket.socket | None:
    one = socket.socket()
    one.setblocking(False)
    try:
        one.bind((target.source, 0))
        await asyncio.wait_for(asyncio.get_running_loop().sock_connect(one, ("127.0.0.1", target.port)), 5)
    except (OSError, TimeoutError):
        one.close()
        return None
    return one


def _open(one: socket.socket) -> bool:
    try:
        return one.recv(1, socket.MSG_PEEK) != b""
    except BlockingIOError:
        return True
    except OSError:
        return False


async def _body(target: Target, size: int, gate: asyncio.Semaphore, *, chunked: bool) -> int:
    loop, sent = asyncio.get_running_loop(), 0
    length = b"transfer-encoding: chunked" if chunked else b"content-length: %d" % size
    head = (
        b"POST /sign-in HTTP/1.1\r\nhost: temper.example\r\n"
        b"content-type: multipart/form-data; boundary=b\r\n" + length + b"\r\n\r\n"
    )
    part = b'--b\r\ncontent-disposition: form-data; name="password"; filename="x"\r\n\r\n'
    async with gate:
        if (one := await _connected(target)) is None:
            return 0
        try:
            await loop.sock_sendall(one, head)
            first = part
            while sent < size:
                piece = first + CHUNK
                first = b""
                await asyncio.wait_for(
                    loop.sock_sendall(one, b"%x\r\n%s\r\n" % (len(piece), piece) if chunked else piece), 5
                )
                sent += len(piece)
        except (OSError, TimeoutError):
            pass
        finally:
            one.close()
    return sent


async def _password(target: Target, number: int, gate: asyncio.Semaphore) -> int:
    name = "operator" if number % 2 else f"name{number}"
    body = urlencode({"name": name, "password": f"wrong password {number}"}).encode()
    head = (
        b"POST /sign-in HTTP/1.1\r\nhost: temper.example\r\nconnection: close\r\n"
        b"content-type: application/x-www-form-urlencoded\r\ncontent-length: %d\r\n\r\n" % len(body)
    )
    loop = asyncio.get_running_loop()
    async with gate:
        if (one := await _connected(target)) is None:
            return 0
        try:
            await loop.sock_sendall(one, head + body)
            line = await asyncio.wait_for(loop.sock_recv(one, 64), 10)
            return int(line.split()[1]) if line else 0
        except (OSError, TimeoutError):
            return 0
        finally:
            one.close()

"""Posts when a frame is due, 20 times a second, to whichever server: python bench/peers/publisher.py PORT.

A process of its own, for all servers alike. Its pace is a clock of its own: the time that a POST takes is not the
peer's. And it waits by the kernel's clock, since a timer of asyncio's comes 1 ms late, and at worst 2.
"""

import socket
import sys
import time

PERIOD = 50_000_000
"""Nanoseconds."""


def publish(port: int) -> None:
    server = socket.create_connection(("127.0.0.1", port))
    server.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    due = time.monotonic_ns()
    while True:
        due += PERIOD
        time.sleep(max(0.0, (due - time.monotonic_ns()) / 1e9))
        body = b"%d " % due + b"x" * 150
        server.sendall(b"POST /pub HTTP/1.1\r\nHost: bench\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body))
        if not server.recv(65536):
            return


if __name__ == "__main__":
    try:
        publish(int(sys.argv[1]))
    except ConnectionError:
        sys.exit()  # the server was ended

"""A wire to a host that a test can cut: it carries on as if nothing was, and nothing comes through any more."""

import socket
import threading
from collections.abc import Callable
from contextlib import suppress

PIECE = 64 * 1024


class Wire:
    """`port` is where it begins; its other end is a host's own."""

    def __init__(self, host_port: int) -> None:
        self._host_port = host_port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._registered = threading.Lock()
        self._open: list[socket.socket] = [self._listener]
        self._whole = threading.Event()
        self._whole.set()
        self._cut_when: Callable[[], bool] = lambda: False
        self._closed = False
        self.holds_new = False
        """What is begun from now on comes through once the host has answered three times elsewhere."""
        self._came = threading.Condition()
        self._pieces = 0
        threading.Thread(target=self._take, daemon=True).start()

    def cut(self) -> None:
        self._whole.clear()

    def cut_when(self, true: Callable[[], bool]) -> None:
        """Asked before each piece is carried to the host: the first that is to be lost."""
        self._cut_when = true

    def close(self) -> None:
        with self._registered:
            self._closed = True
        self._whole.set()
        with self._came:
            self._came.notify_all()
        for one in self._open:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()

    def _register(self, one: socket.socket) -> bool:
        """Keep a socket until the wire is closed; close it at once and return False if the wire already is."""
        with self._registered:
            if not self._closed:
                self._open.append(one)
                return True
        one.close()
        return False

    def _take(self) -> None:
        while not self._closed:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._carry, args=(near, self.holds_new), daemon=True).start()

    def _carry(self, near: socket.socket, held: bool) -> None:
        if not self._register(near):
            return
        if held:
            self._wait_for(3)
        self._whole.wait()
        try:
            far = socket.create_connection(("127.0.0.1", self._host_port))
        except ConnectionRefusedError:  # the host has ended meanwhile, and the test with it
            near.close()
            return
        if not self._register(far):
            return
        threading.Thread(target=self._pump, args=(far, near, False), daemon=True).start()
        self._pump(near, far, True)

    def _wait_for(self, pieces: int) -> None:
        """Until the host has said as many things on the lines that are open."""
        with self._came:
            upto = self._pieces + pieces
            self._came.wait_for(lambda: self._pieces >= upto or self._closed)

    def _pump(self, come: socket.socket, to: socket.socket, to_host: bool) -> None:
        with suppress(OSError):
            while piece := come.recv(PIECE):
                if to_host and self._cut_when():
                    self.cut()
                self._whole.wait()
                to.sendall(piece)
                if not to_host:
                    with self._came:
                        self._pieces += 1
                        self._came.notify_all()
        with suppress(OSError):
            to.shutdown(socket.SHUT_WR)

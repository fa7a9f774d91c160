"""Given a /proc and the engines' addresses: whose a GPU process is. One test asks a real kernel."""

import os
import socket

import pytest

from app.machine.gpus.gpu_processes import ProcessOwners

HEAD = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"


def row(port, inode, state="0A"):
    return f"   0: 0100007F:{port:04X} 00000000:0000 {state} 0:0 0:0 0 1000 0 {inode} 1 0\n"


def machine(root, processes, tcp="", tcp6=""):
    """`processes`: pid to (parent, inodes of its sockets)."""
    (root / "self" / "net").mkdir(parents=True)
    (root / "self" / "net" / "tcp").write_text(HEAD + tcp)
    (root / "self" / "net" / "tcp6").write_text(HEAD + tcp6)
    for pid, (parent, inodes) in processes.items():
        (root / str(pid) / "fd").mkdir(parents=True)
        (root / str(pid) / "stat").write_text(f"{pid} (a) b) ( c) S {parent} 1 1 0")
        for number, inode in enumerate(inodes):
            (root / str(pid) / "fd" / str(number)).symlink_to(f"socket:[{inode}]")
    return root


BASES = {"big": ("http://127.0.0.1:8000/v1",), "small": ("http://localhost:8001/v1", "http://[::1]:8002/v1")}


def test_a_worker_is_the_servers_that_it_comes_from(tmp_path):
    tree = {100: (1, [11]), 110: (100, []), 111: (110, []), 200: (1, [21]), 210: (200, []), 300: (1, [31])}
    owners = ProcessOwners(BASES, proc=machine(tmp_path, tree, row(8000, 11) + row(9999, 31), row(8002, 21)))
    assert {pid: owners(pid) for pid in (100, 111, 210, 300, 404)} == {
        100: "big", 111: "big", 210: "small", 300: "", 404: "",
    }  # fmt: skip


def test_a_client_of_the_port_is_not_its_owner(tmp_path):
    proc = machine(tmp_path, {100: (1, [11])}, row(8000, 11, state="01"))
    assert ProcessOwners(BASES, proc=proc)(100) == ""


def test_what_temper_launched_it_knows_by_itself(tmp_path):
    proc = machine(tmp_path, {100: (1, [])})
    assert ProcessOwners(BASES, {100: "big"}.get, proc)(100) == "big"


@pytest.mark.parametrize("url", ["http://10.0.0.7:8000/v1", "http://node7:8000/v1"])
def test_an_engine_of_another_machine_owns_nothing_here(tmp_path, url):
    proc = machine(tmp_path, {100: (1, [11])}, row(8000, 11))
    assert ProcessOwners({"big": (url,)}, proc=proc)(100) == ""


def test_a_circle_of_parents_ends(tmp_path):
    proc = machine(tmp_path, {100: (101, []), 101: (100, [])}, row(8000, 11))
    assert ProcessOwners(BASES, proc=proc)(100) == ""


def test_this_kernel_says_that_a_listening_port_is_ours():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        assert ProcessOwners({"me": (f"http://127.0.0.1:{port}/v1",)})(os.getpid()) == "me"
    assert ProcessOwners({"me": (f"http://127.0.0.1:{port}/v1",)})(os.getpid()) == ""

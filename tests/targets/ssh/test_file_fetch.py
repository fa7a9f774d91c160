"""What a host's tar may make of this machine's memory."""

import gzip
import io
import tarfile
import tracemalloc

import pytest

from app.errors import ConnectionLost, EnvironmentUnusable
from app.targets.ssh.file_fetch import parse_archive

GIB = 2**30


def archive(**members):
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as made:
        for name, content in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            made.addfile(member, io.BytesIO(content))
    return stream.getvalue()


def sparse(name, size):
    """As GNU tar writes it with -S: one byte, and how long the file is with its holes."""
    member = tarfile.TarInfo(name)
    member.type, member.size = tarfile.GNUTYPE_SPARSE, 1
    header = bytearray(member.tobuf(tarfile.GNU_FORMAT))
    header[386:398] = b"%011o\0" % 0
    header[398:410] = b"%011o\0" % 1
    header[483:495] = b"%011o\0" % size
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    return bytes(header) + b"x".ljust(512, b"\0") + bytes(1024)


def test_files_come_as_they_are():
    found = parse_archive(archive(**{"etc/hosts": b"127.0.0.1 localhost\n"}))
    assert found["/etc/hosts"].state.content == b"127.0.0.1 localhost\n"


@pytest.mark.parametrize("size", [10_000, 4 * GIB])
def test_a_sparse_member_is_refused_before_it_is_unpacked(size):
    tracemalloc.start()
    with pytest.raises(EnvironmentUnusable, match=r"'etc/big' as \d+ bytes .* does not read sparse files"):
        parse_archive(sparse("etc/big", size))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 2**20


def test_a_compressed_stream_is_not_unpacked():
    with pytest.raises(ConnectionLost):
        parse_archive(gzip.compress(archive(**{"etc/big": bytes(10_000_000)})))

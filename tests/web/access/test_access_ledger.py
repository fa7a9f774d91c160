import socket

import pytest

from app.errors import BadInput
from app.events.kinds import PersonDid
from app.events.record import AUDIT, GENESIS, record_event
from app.web.access.access_ledger import AuditSyslog

LINE = record_event(
    AUDIT, 1, 0.0, PersonDid(who="jo", right="admin", via="token", source="", did="x", status=204), GENESIS
)


def test_the_head_reaches_a_syslog_and_no_more_than_the_head():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as syslog:
        syslog.bind(("127.0.0.1", 0))
        syslog.settimeout(5)
        syslog_line = AuditSyslog(f"127.0.0.1:{syslog.getsockname()[1]}")
        syslog_line.send_head(LINE)
        said = syslog.recv(2000).decode()
        syslog_line.close()
    assert f"temper audit seq=1 hash={LINE.hash}" in said
    assert "jo" not in said


def test_nobody_is_told_where_no_address_is_given():
    AuditSyslog("").send_head(LINE)


@pytest.mark.parametrize("address", ["syslog", ":514", "host:", "host:syslog"])
def test_an_address_that_is_none_is_said(address):
    with pytest.raises(BadInput, match="HOST:PORT"):
        AuditSyslog(address)

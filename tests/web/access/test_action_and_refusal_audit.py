import socket

import pytest

from app.errors import BadInput
from app.events.kinds import AuditedRequest
from app.events.record import AUDIT, GENESIS, build_recorded_event
from app.web.access.action_and_refusal_audit import MANY, MOST, WINDOW, AuditSyslog, DeniedRequestCounter

LINE = build_recorded_event(
    AUDIT, 1, 0.0, AuditedRequest(who="jo", right="admin", via="token", source="", did="x", status=204), GENESIS
)


def test_the_head_reaches_a_syslog_and_no_more_than_the_head():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as syslog:
        syslog.bind(("127.0.0.1", 0))
        syslog.settimeout(5)
        syslog_line = AuditSyslog(f"127.0.0.1:{syslog.getsockname()[1]}")
        syslog_line.send_seq_and_hash(LINE)
        said = syslog.recv(2000).decode()
        syslog_line.close()
    assert f"temper audit seq=1 hash={LINE.hash}" in said
    assert "jo" not in said


def test_nobody_is_told_where_no_address_is_given():
    AuditSyslog("").send_seq_and_hash(LINE)


def test_an_address_of_ipv6_stands_in_brackets():
    with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as syslog:
        syslog.bind(("::1", 0))
        syslog.settimeout(5)
        syslog_line = AuditSyslog(f"[::1]:{syslog.getsockname()[1]}")
        syslog_line.send_seq_and_hash(LINE)
        assert LINE.hash in syslog.recv(2000).decode()
        syslog_line.close()


def test_a_server_whose_name_is_not_known_is_said():
    with pytest.raises(BadInput, match=r"'nowhere\.invalid:514' cannot be used"):
        AuditSyslog("nowhere.invalid:514")


@pytest.mark.parametrize("address", ["syslog", ":514", "host:", "host:syslog", "host:0", "127.0.0.1:65536"])
def test_an_address_that_is_none_is_said(address):
    with pytest.raises(BadInput, match="HOST:PORT"):
        AuditSyslog(address)


def refused(source="192.0.2.7", who="", did="GET /audit"):
    return AuditedRequest(who=who, right="", via="", source=source, did=did, status=401)


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def test_the_first_goes_on_record_at_once_and_the_rest_as_one_when_the_minute_is_over():
    clock = Clock()
    tally = DeniedRequestCounter(clock)
    assert tally.count_or_return_refusal(refused()) == refused()
    for number in range(9000):
        assert tally.count_or_return_refusal(refused(did=f"GET /{number}")) is None
    assert tally.collect_finished() == []
    clock.now = WINDOW
    [told] = tally.collect_finished()
    assert (told.times, told.did, told.source) == (9000, "GET /8999", "192.0.2.7")


def test_who_goes_on_all_night_has_a_line_a_minute_and_who_stops_is_forgotten():
    clock, lines = Clock(), 0
    tally = DeniedRequestCounter(clock)
    for minute in range(100):
        clock.now = minute * WINDOW
        lines += len(tally.collect_finished())
        lines += sum(tally.count_or_return_refusal(refused()) is not None for _ in range(50))
    assert lines == 100
    clock.now += WINDOW
    assert [told.times for told in tally.collect_finished()] == [50]
    clock.now += WINDOW
    assert tally.collect_finished() == []
    assert tally.count_or_return_refusal(refused()) is not None


def test_people_and_places_are_told_apart_up_to_a_number_of_them():
    tally = DeniedRequestCounter(Clock())
    firsts = [tally.count_or_return_refusal(refused(f"198.51.100.{number}")) for number in range(200)]
    told = [one for one in firsts if one]
    assert len(told) == MOST + 1
    assert told[-1].source == MANY
    assert tally.collect_finished(all_of_them=True)[0].times == 200 - MOST - 1


def test_a_person_who_is_refused_is_named():
    assert DeniedRequestCounter(Clock()).count_or_return_refusal(refused(who="vic")).who == "vic"

import ipaddress

from app.web.access.connection_limiter import ANONYMOUS_PER_NETWORK, ANONYMOUS_TOTAL, MOST, RESERVE, ConnectionLimiter


class Connection:
    def __init__(self, crowd, source="192.0.2.7", *, idle=True):
        self.crowd, self.is_idle, self.ended = crowd, idle, False
        self.admitted = crowd.admit_connection_or_close_idle_one(self, source)

    def abort(self):
        self.ended = True
        self.crowd.remove_connection(self)


def test_one_address_holds_a_few_and_the_newest_of_them():
    crowd = ConnectionLimiter(of_a_peer=3)
    first, *others = [Connection(crowd) for _ in range(3)]
    assert Connection(crowd).admitted
    assert first.ended
    assert not any(one.ended for one in others)
    assert Connection(crowd, "192.0.2.8").admitted


def test_who_is_being_answered_makes_no_room():
    crowd = ConnectionLimiter(of_a_peer=2)
    busy = [Connection(crowd, idle=False) for _ in range(2)]
    assert not Connection(crowd).admitted
    assert crowd.refused == 1
    assert not any(one.ended for one in busy)


def test_who_is_known_counts_as_no_stranger_and_is_never_ended_for_one():
    crowd = ConnectionLimiter(room=4, of_strangers=2, of_a_peer=2)
    people = [Connection(crowd) for _ in range(2)]
    for one in people:
        crowd.mark_signed_in(one)
    strangers = [Connection(crowd) for _ in range(5)]
    assert not any(one.ended for one in people)
    assert [one.ended for one in strangers] == [True, True, True, False, False]


def test_many_addresses_are_a_crowd_too():
    crowd = ConnectionLimiter(of_strangers=10)
    strangers = [Connection(crowd, f"198.51.100.{number}") for number in range(30)]
    assert sum(not one.ended for one in strangers) == 10


def test_a_network_of_version_6_is_one_peer_and_what_stands_behind_a_proxy_is_not():
    crowd = ConnectionLimiter(of_a_peer=2)
    strangers = [Connection(crowd, f"2001:db8::{number:x}") for number in range(1, 6)]
    assert sum(not one.ended for one in strangers) == 2
    behind = ConnectionLimiter(of_a_peer=2, proxies=(ipaddress.ip_network("192.0.2.0/24"),))
    assert not any(one.ended for one in [Connection(behind) for _ in range(20)])


def test_who_left_takes_no_room():
    crowd = ConnectionLimiter(room=2, of_strangers=2)
    for _ in range(100):
        one = Connection(crowd)
        crowd.mark_signed_in(one)
        crowd.remove_connection(one)
    assert Connection(crowd).admitted
    assert len(crowd._peers) == 1


def test_open_files_are_left_for_all_else():
    assert ConnectionLimiter.create(1024).room == 1024 - RESERVE
    assert ConnectionLimiter.create(256).room == 64
    assert ConnectionLimiter.create(65536).room == MOST
    assert (ConnectionLimiter.create(65536).of_strangers, ConnectionLimiter.create(65536).of_a_peer) == (
        ANONYMOUS_TOTAL,
        ANONYMOUS_PER_NETWORK,
    )
    alone = ConnectionLimiter.create(65536, only_operators=True)
    assert alone.of_a_peer == alone.room

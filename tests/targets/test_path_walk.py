import pytest

from app.targets.path_walk import spell_out_undecodable_name_bytes, unescape_name_bytes

NAMES = ["plain", "caf\udce9", "\ufffd", "\ufffd\ufffde9", "\ufffde9", "\udcff\ufffd\udc80ff", "\udcc3\udca9", "é"]


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_text_and_read_back_as_it_was(name):
    assert spell_out_undecodable_name_bytes(name).encode()
    assert unescape_name_bytes(spell_out_undecodable_name_bytes(name)) == name


def test_no_two_names_are_spelled_alike():
    assert len({spell_out_undecodable_name_bytes(name) for name in NAMES}) == len(NAMES)
    assert spell_out_undecodable_name_bytes("caf\udce9") == "caf\ufffde9"
    assert spell_out_undecodable_name_bytes("café") == "café"

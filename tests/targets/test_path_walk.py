import pytest

from app.targets.path_walk import decode_name, encode_name

NAMES = ["plain", "caf\udce9", "\ufffd", "\ufffd\ufffde9", "\ufffde9", "\udcff\ufffd\udc80ff", "\udcc3\udca9", "é"]


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_text_and_read_back_as_it_was(name):
    assert encode_name(name).encode()
    assert decode_name(encode_name(name)) == name


def test_no_two_names_are_spelled_alike():
    assert len({encode_name(name) for name in NAMES}) == len(NAMES)
    assert encode_name("caf\udce9") == "caf\ufffde9"
    assert encode_name("café") == "café"

import pytest

from app.targets.names import meant, spelled

NAMES = ["plain", "caf\udce9", "\ufffd", "\ufffd\ufffde9", "\ufffde9", "\udcff\ufffd\udc80ff", "\udcc3\udca9", "é"]


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_text_and_read_back_as_it_was(name):
    assert spelled(name).encode()
    assert meant(spelled(name)) == name


def test_no_two_names_are_spelled_alike():
    assert len({spelled(name) for name in NAMES}) == len(NAMES)
    assert spelled("caf\udce9") == "caf\ufffde9"
    assert spelled("café") == "café"

import pytest

from app.syntax.sshd_algorithms import BuiltAlgorithms, resolve_algorithms

BUILT = BuiltAlgorithms(("a-cbc", "b-ctr", "c-ctr", "d-gcm"), ("d-gcm", "b-ctr", "c-ctr"))


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("a-cbc,b-ctr", "a-cbc,b-ctr"),
        ("b-ctr,b-ctr", "b-ctr"),
        ("+a-cbc", "d-gcm,b-ctr,c-ctr,a-cbc"),
        ("^a-cbc,c-ctr", "a-cbc,c-ctr,d-gcm,b-ctr"),
        ("-b-ctr,x", "d-gcm,c-ctr"),
        ("-*-ctr", "d-gcm"),
        ("-!c-ctr,*", "c-ctr"),
        ("-*", ""),
        ("*-ctr", "b-ctr,c-ctr"),
        ("nonsense", None),
        ("!a-cbc", None),
    ],
)
def test_a_list_comes_to_names(written, expected):
    assert resolve_algorithms(written, BUILT) == expected

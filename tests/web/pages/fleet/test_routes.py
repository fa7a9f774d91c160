import pytest

from app.web.pages.fleet.routes import parse_known_version


@pytest.mark.parametrize(
    ("since", "version"),
    [("e1.7", 7), ("e2.7", 0), ("e1.", 0), ("e1", 0), ("", 0), ("e1.x", 0), ("e1.²", 0), ("e1.-7", 0), ("e1.7.8", 0)],
)
def test_only_a_version_of_this_process_is_known(since, version):
    assert parse_known_version(since, "e1") == version

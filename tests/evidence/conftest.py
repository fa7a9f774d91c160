import pytest


@pytest.fixture(scope="session", autouse=True)
def empty_home(tmp_path_factory):
    """A home without content: content of the account would replace the texts of the built-in rules."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(tmp_path_factory.mktemp("home")))
        yield

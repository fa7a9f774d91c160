"""Keys and tokens of no known form, told from names by how often their letters change kind."""

import pytest

from app.text.random_key_detection import is_key


@pytest.mark.parametrize(
    "word",
    [
        "en_US-UTF-8/de_DE-UTF-8",
        "AES-256-Xts/LUKS2-Pbkdf2",
        "/lib64/ld-linux-x86-64-So-2",
        "CIS-5-2-10_Ssh_Root_Login_No",
    ],
)
def test_what_joins_the_parts_of_a_name_does_not_count_as_a_change(word):
    assert not is_key(word)
    assert not is_key(word, 12)


def test_a_key_with_a_dash_in_it_is_still_a_key():
    assert is_key("aB3dE5gH-7jK9mN1pQ4sT")

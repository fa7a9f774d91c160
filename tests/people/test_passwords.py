"""How passwords are kept, and what checking them may cost."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from argon2 import PasswordHasher

from app.people.passwords import (
    AT_ONCE,
    NOBODY,
    WAITING,
    HashingLimiter,
    PasswordsBusy,
    hash_password,
    matches_digest,
    needs_rehash,
)

GOOD = "a password of some length"
OLD = "scrypt$000102030405060708090a0b0c0d0e0f$a04d7d256d778b4c609dfab709864d67d1b03bcb3185296ee05e61f8d74b4dd4"
"""As passwords were kept before."""


def test_a_digest_says_how_it_was_made():
    kept = hash_password(GOOD)
    assert kept.startswith("$argon2id$v=19$m=65536,t=3,p=1$")
    assert hash_password(GOOD) != kept
    assert matches_digest(GOOD, kept)
    assert not matches_digest(GOOD + "x", kept)
    assert not needs_rehash(kept)


def test_an_old_digest_still_counts_and_is_to_be_made_anew():
    assert matches_digest(GOOD, OLD)
    assert not matches_digest("another one", OLD)
    assert needs_rehash(OLD)
    assert needs_rehash("$argon2id$v=19$m=8192,t=1,p=1$" + NOBODY.split("$", 4)[4])


def test_nobody_is_checked_with_the_work_of_today_and_lets_nobody_in():
    assert not needs_rehash(NOBODY)
    for word in ("", GOOD, "\0", "x" * 200):
        assert not matches_digest(word, NOBODY)


@pytest.mark.parametrize("kept", [OLD, NOBODY, ""], ids=["older", "nobody", "somebody"])
def test_every_name_costs_one_argon2(kept, monkeypatch):
    kept = kept or hash_password(GOOD)
    asked, verify = [], PasswordHasher.verify

    def counted(hasher, kept, password):
        asked.append(kept)
        return verify(hasher, kept, password)

    monkeypatch.setattr(PasswordHasher, "verify", counted)
    matches_digest("not that one", kept)
    assert len(asked) == 1
    assert asked[0].startswith("$argon2id$v=19$m=65536,t=3,p=1$")


def test_who_comes_while_all_places_are_taken_is_sent_away_at_once():
    """A stranger who tries a thousand passwords takes no more memory than two of them."""
    turns = HashingLimiter(at_once=2, waiting=0)
    with turns.acquire_slot(), turns.acquire_slot():
        for _ in range(1000):
            with pytest.raises(PasswordsBusy, match="try again in a moment"), turns.acquire_slot():
                pass
    with turns.acquire_slot():
        pass


def test_many_at_once_are_all_answered_or_sent_away():
    turns, at_work, most = HashingLimiter(AT_ONCE, WAITING), [], []

    def tried(_):
        try:
            with turns.acquire_slot():
                at_work.append(1)
                most.append(len(at_work))
                matches_digest(GOOD, NOBODY)
                at_work.pop()
        except PasswordsBusy:
            return "sent away"
        return "answered"

    with ThreadPoolExecutor(24) as pool:
        said = list(pool.map(tried, range(24)))
    assert said.count("answered") >= AT_ONCE + WAITING
    assert max(most) <= AT_ONCE

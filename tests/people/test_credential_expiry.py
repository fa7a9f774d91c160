"""When a token, a link or a session stops to admit anybody."""

import pytest

from app.people.credential_expiry import is_credential_valid
from app.store.models import CredentialRow


@pytest.mark.parametrize(
    ("now", "ended_at", "valid"), [(9.0, None, True), (10.0, None, False), (11.0, None, False), (9.0, 8.0, False)]
)
def test_a_credential_is_valid_until_it_expires_or_is_revoked(now, ended_at, valid):
    row = CredentialRow(
        id="a", person="ada", right="viewer", kind="token", label="", digest="", made_at=0.0, expires_at=10.0
    )
    row.ended_at = ended_at
    assert is_credential_valid(row, now) == valid

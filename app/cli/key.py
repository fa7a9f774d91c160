"""`temper key`: print the public key that signs evidence, or replace the key pair."""

import getpass

from app.cli.existing import open_existing_database
from app.config import Settings
from app.evidence.notary import Requester, change_key, open_notary


def print_public_key(settings: Settings, why: str) -> None:
    notary = open_notary(settings.data, open_existing_database(settings))
    key = change_key(notary, Requester(getpass.getuser(), "admin", "terminal"), why) if why else notary.key
    print(key.public)  # noqa: T201  one line, for scripts

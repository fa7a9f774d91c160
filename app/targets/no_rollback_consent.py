"""The sentence that a person must confirm before a change to a host that cannot be rolled back."""

from app.errors import BadInput


def build_consent_sentence(host: str) -> str:
    return f"I accept that {host} cannot be rolled back"


def check_consent_if_given(host: str, sentence: str) -> None:
    """Raise BadInput if the words are wrong. An empty string is accepted: most hosts need no consent."""
    if sentence and sentence != build_consent_sentence(host):
        raise BadInput(f'this is not the consent for {host}: give "{build_consent_sentence(host)}", word for word.')

"""What a person says, word for word, before a host is changed that could not be rolled back."""

from app.errors import BadInput


def sentence(host: str) -> str:
    return f"I accept that {host} cannot be rolled back"


def check(host: str, said: str) -> None:
    """Saying nothing is not wrong: most hosts need no such words."""
    if said and said != sentence(host):
        raise BadInput(f'these are not the words of consent for {host}: say "{sentence(host)}", word for word.')

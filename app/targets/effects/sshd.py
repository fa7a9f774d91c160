"""sshd."""


def printed(output: str) -> dict[str, str]:
    """What `sshd -T` prints, by keyword; a keyword with a line for each of its values is put together."""
    found: dict[str, list[str]] = {}
    for line in output.split("\n"):
        keyword, _blank, value = line.partition(" ")
        if keyword:
            found.setdefault(keyword, []).append(value)
    return {keyword: " ".join(values) for keyword, values in found.items()}

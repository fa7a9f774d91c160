"""The replacement for a secret."""

GONE = "[secret]"

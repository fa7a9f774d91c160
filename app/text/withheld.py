"""What stands in the place of a secret."""

GONE = "[secret]"

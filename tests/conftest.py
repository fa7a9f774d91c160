"""What tests of several folders share: one real run, played when the first of them asks for it."""

from tests.evidence.played import archive, case, log, played

__all__ = ["archive", "case", "log", "played"]

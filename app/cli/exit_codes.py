"""What a command ends with. docs/exit-codes.md has the table; a test holds the two together."""

DONE = 0
COULD_NOT = 1
"""Something was wrong with what was asked for, or with this machine: a sentence says what to do."""
NOT_ALL = 2
"""It was done, and not all is well: a rule that did not pass, a chain that does not hold."""
USAGE = 64
"""The command line was not understood, and nothing was begun: as sysexits has it, for 2 says something else here."""
INTERRUPTED = 130

"""Exit codes of all commands. A test keeps docs/exit-codes.md in step."""

DONE = 0
COULD_NOT = 1
"""The input or this machine is at fault; the printed sentence says what to do."""
NOT_ALL = 2
"""The command finished with a negative result: a rule failed, or a chain is broken."""
NOT_PINNED = 3
"""Everything that was verified holds, but no key was given that says who made it."""
USAGE = 64
"""The command line is invalid and nothing was started: EX_USAGE of sysexits, since 2 has a meaning here."""
INTERRUPTED = 130

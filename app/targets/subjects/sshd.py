"""sshd's configuration, line by line. What sshd makes of the whole is compared before and after (effects/sshd)."""

from app.targets.subjects.tables import SSHD

judge = SSHD

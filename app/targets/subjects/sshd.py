"""The policy for sshd_config, line by line. Its effect is compared in effects/sshd."""

from app.targets.subjects.option_tables import SSHD

judge_sshd_edit = SSHD

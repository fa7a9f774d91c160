"""The programs whose reading of a host's files is compared before and after a change."""

from app.targets.effects.daemon import Daemons
from app.targets.effects.pam import Pam
from app.targets.effects.sudo import Sudo

DAEMONS: Daemons = (Sudo(), Pam())

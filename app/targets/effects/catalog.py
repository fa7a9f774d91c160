"""The programs whose reading of a host's files is compared before and after a change."""

from app.targets.effects.daemon import Daemons

DAEMONS: Daemons = ()

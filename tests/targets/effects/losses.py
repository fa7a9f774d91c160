"""What a change of files loses of what a program goes by."""

from app.targets.effects.strictness_comparison import Strength


def losses(daemon, before, after):
    old, new = daemon.read_settings(before), daemon.read_settings(after)
    return [
        key
        for key in sorted(old | new)
        if old.get(key) != new.get(key)
        and daemon.compare_values(key, old.get(key, ""), new.get(key, "")) not in (Strength.EQUAL, Strength.STRONGER)
    ]

"""The fleet pages: hosts by rules, and rollouts."""

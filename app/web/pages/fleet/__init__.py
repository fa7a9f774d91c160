"""The fleet: every host by every rule, and the rollouts over them."""

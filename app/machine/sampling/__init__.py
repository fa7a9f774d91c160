"""Sample engines and GPUs once a second into the machine's log."""

"""What an engine takes of its GPUs and how fast it can be at most, reckoned before anything is started."""

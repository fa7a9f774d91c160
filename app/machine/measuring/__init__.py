"""The gate before anything is built on an engine: what it really takes and how fast it really is, on this machine."""

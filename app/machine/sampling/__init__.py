"""What engines and GPUs do, once a second, into the stream of the machine."""

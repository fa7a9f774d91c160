"""Events to those who asked for them: CloudEvents over HTTP, signed, retried, in order within a run."""

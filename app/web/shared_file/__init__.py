"""A run as one file to send: the page, the frames that its stream would send, and the log that proves them."""

"""Access control: identify the person behind a request, check their right, record what they did."""

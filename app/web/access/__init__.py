"""The door: who a request is from, whether it may, and the record of what it did."""

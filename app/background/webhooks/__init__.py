"""Deliver events to webhooks as signed CloudEvents over HTTP, with retries and in order within a run."""

"""The documentation as pages: read from Markdown, searchable, served at /help and written as a site by `make docs`."""

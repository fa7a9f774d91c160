import app.web.routes  # noqa: F401  the links of a page that is drawn without an application

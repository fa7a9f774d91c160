"""All routes of the application. Code and templates refer to a route by its name."""

from starlette.routing import BaseRoute

from app.web import api, pages
from app.web.access import sign_in, sign_in_oidc
from app.web.shared_file import routes as shared_file
from app.web.url_paths import register_routes

ROUTES: tuple[BaseRoute, ...] = (
    *api.ROUTES,
    *pages.ROUTES,
    *shared_file.router.routes,
    *sign_in.router.routes,
    *sign_in_oidc.router.routes,
)

register_routes(ROUTES)

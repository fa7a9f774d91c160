"""An error class for each type of problem.

Written by .ci/client from the OpenAPI description; do not edit.
"""

from temper_client.errors import Problem


class InvalidProblem(Problem):
    """Part of the request is not valid (422). Each entry of `errors` names a field and says how to correct it."""


class UnknownParameterProblem(Problem):
    """Unknown query parameter (422). Remove the parameter, or spell it as in /openapi.json."""


class BadCursorProblem(Problem):
    """Invalid cursor (422). Cursors are opaque. Use `next` or `previous` from an answer unchanged, or leave the cursor out."""


class UnknownHostProblem(Problem):
    """No such host (422). GET /api/v1/hosts lists the hosts."""


class UnknownSkillProblem(Problem):
    """No such skill (422). The detail lists the skills."""


class UnknownRuleProblem(Problem):
    """No such rule (422). The detail names the nearest rules; GET /api/v1/rules lists them all."""


class UnsupportedHostProblem(Problem):
    """Hosts of this kind cannot be added (422). `errors` names the field and what it accepts: kind, name, place or secret_at."""


class HostKeyProblem(Problem):
    """The host key is not accepted yet (422). Compare the fingerprint in the detail with the one on the host, then send it as accept_key."""


class KeyReusedProblem(Problem):
    """Idempotency-Key was used for another request (422). Use a new key for a new request; keys are kept for a day."""


class KeyInFlightProblem(Problem):
    """The request with this Idempotency-Key is still being answered (409). Send it again in a second."""


class RunEndedProblem(Problem):
    """The run has ended (409). A run that has ended accepts no commands. Start another run."""


class WrongStateProblem(Problem):
    """Not possible in this state (409). The detail names the state and the commands that it allows."""


class NotWaitingProblem(Problem):
    """This approval is not open (409). It was answered, it expired, or its run has ended. GET /api/v1/approvals lists the open ones."""


class BusyProblem(Problem):
    """Work in progress prevents this (409). The detail names the work. Wait for it to end, or pause it."""


class ExistsProblem(Problem):
    """It exists already (409). Use the existing one, or choose another name or other settings."""


class TooManyProblem(Problem):
    """The limit is reached (409). Delete one first."""


class UnauthorizedProblem(Problem):
    """Sign-in required (401). Sign in at /sign-in, or send `Authorization: Bearer TOKEN`."""


class ForbiddenProblem(Problem):
    """Insufficient right (403). The detail names the right that is required. Ask an admin for it."""


class CrossSiteProblem(Problem):
    """Cross-site request refused (403). Temper does not accept requests from pages of other sites."""


class WrongHostProblem(Problem):
    """Unknown server name (403). Use the address that Temper printed when it started."""


class TooOftenProblem(Problem):
    """Too many attempts (429). The header Retry-After says how many seconds to wait."""


class NotFoundProblem(Problem):
    """Not found (404). Check the id in the address, and the address against /openapi.json."""


class MethodNotAllowedProblem(Problem):
    """Method not allowed (405). The header Allow lists the methods that this address accepts."""


class TooLargeProblem(Problem):
    """The request is too large (413). A body holds at most 1 MiB."""


class NoSuchRangeProblem(Problem):
    """Range not satisfiable (416). Content-Range states the number of bytes."""


class WrongContentTypeProblem(Problem):
    """The body is not plain JSON (415). Send it with Content-Type: application/json and no Content-Encoding."""


class UnavailableProblem(Problem):
    """Temper cannot do this now (503). The detail gives the cause. Remove it, then try again."""


class FaultProblem(Problem):
    """Internal error (500). The cause is in Temper, not in your request. The server's log has the details."""


PROBLEMS: dict[str, type[Problem]] = {
    "invalid": InvalidProblem,
    "unknown-parameter": UnknownParameterProblem,
    "bad-cursor": BadCursorProblem,
    "unknown-host": UnknownHostProblem,
    "unknown-skill": UnknownSkillProblem,
    "unknown-rule": UnknownRuleProblem,
    "unsupported-host": UnsupportedHostProblem,
    "host-key": HostKeyProblem,
    "key-reused": KeyReusedProblem,
    "key-in-flight": KeyInFlightProblem,
    "run-ended": RunEndedProblem,
    "wrong-state": WrongStateProblem,
    "not-waiting": NotWaitingProblem,
    "busy": BusyProblem,
    "exists": ExistsProblem,
    "too-many": TooManyProblem,
    "unauthorized": UnauthorizedProblem,
    "forbidden": ForbiddenProblem,
    "cross-site": CrossSiteProblem,
    "wrong-host": WrongHostProblem,
    "too-often": TooOftenProblem,
    "not-found": NotFoundProblem,
    "method-not-allowed": MethodNotAllowedProblem,
    "too-large": TooLargeProblem,
    "no-such-range": NoSuchRangeProblem,
    "wrong-content-type": WrongContentTypeProblem,
    "unavailable": UnavailableProblem,
    "fault": FaultProblem,
}
"""By the last part of `type`."""

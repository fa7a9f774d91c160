"""Client of Temper's API.

    from temper_client import Temper

    with Temper("http://127.0.0.1:8000") as temper:
        run = temper.start_run(host="fixture", rules=["V-257985"])["id"]
        for event in temper.follow_run(run):
            print(event["kind"])

AsyncTemper has the same methods for asyncio. types.py has the type of each body, problems.py an error for each type of
problem. Apache-2.0, like Temper.
"""

from temper_client import problems, types
from temper_client.asynchronous import AsyncTemper
from temper_client.errors import ConnectionFailed, FieldFault, Problem, TemperError
from temper_client.synchronous import Temper

__all__ = ["AsyncTemper", "ConnectionFailed", "FieldFault", "Problem", "Temper", "TemperError", "problems", "types"]

"""One address before several llama.cpp servers, each with an adapter of its own: a turn goes to its rule's.

    python bench/learning/by_family.py --port 8130 http://127.0.0.1:8131=RULE,RULE http://127.0.0.1:8132=RULE

So a run of many rules on one host can have each rule worked by an adapter that was trained without the rule's family.
What is no turn is asked of the first server. A rule that none was named for is refused.
"""

import argparse
import json
import re
from collections.abc import Mapping
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

_RULE = re.compile(r"^Rule: (\S+)", re.MULTILINE)
_PASSED_ON = ("content-type", "x-request-id", "accept", "authorization")


class Relay(BaseHTTPRequestHandler):
    servers: tuple[str, ...] = ()
    of_rule: Mapping[str, str] = {}

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        self._relay(self.servers[0], b"")

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        if not self.path.endswith("/chat/completions"):
            return self._relay(self.servers[0], body)
        rule = _RULE.search(json.loads(body)["messages"][-1]["content"])
        server = self.of_rule.get(rule[1]) if rule else None
        return self._relay(server, body) if server else self.send_error(404, f"no adapter for {rule and rule[1]}")

    def _relay(self, server: str, body: bytes) -> None:
        at = urlsplit(server)
        assert at.hostname
        asked = HTTPConnection(at.hostname, at.port, timeout=600)
        headers = {name: self.headers[name] for name in _PASSED_ON if self.headers[name]}
        asked.request(self.command, self.path, body or None, headers)
        answer = asked.getresponse()
        self.send_response(answer.status)
        self.send_header("content-type", answer.headers["content-type"] or "text/plain")
        self.send_header("connection", "close")
        self.end_headers()
        try:
            while piece := answer.read1(65536):
                self.wfile.write(piece)
                self.wfile.flush()
        finally:  # whoever asked and went away ends the answer, too
            asked.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("servers", nargs="+", metavar="SERVER=RULES")
    given = parser.parse_args()
    pairs = [one.partition("=")[::2] for one in given.servers]
    Relay.servers = tuple(server for server, _ in pairs)
    Relay.of_rule = {rule: server for server, rules in pairs for rule in rules.split(",")}
    ThreadingHTTPServer(("127.0.0.1", given.port), Relay).serve_forever()


if __name__ == "__main__":
    main()

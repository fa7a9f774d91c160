"""An identity provider: it lets everybody in as it is told to, and keeps to the standard unless told otherwise."""

import time
from urllib.parse import parse_qs, urlsplit

import httpx
from authlib.oauth2.rfc7636 import create_s256_code_challenge
from joserfc import jwt
from joserfc.jwk import KeySet, RSAKey

ISSUER = "https://id.example"
CLIENT = "temper"


class IdentityProvider:
    def __init__(self):
        self.key = RSAKey.generate_key(2048, {"kid": "one", "use": "sig"}, private=True)
        self.claims, self.header, self.signer = {}, {"alg": "RS256", "kid": "one"}, self.key
        self.issuer, self.up = ISSUER, True
        self._codes = {}

    def visit(self, address):
        """What a browser does there: the address that it is sent back to, with a code."""
        asked = {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
        assert (asked["response_type"], asked["code_challenge_method"]) == ("code", "S256")
        code = f"code-{len(self._codes)}"
        self._codes[code] = asked
        return f"{asked['redirect_uri']}?code={code}&state={asked['state']}"

    def __call__(self, request):
        if not self.up:
            raise httpx.ConnectError("refused")
        match request.url.path:
            case "/.well-known/openid-configuration":
                places = {"authorization_endpoint": "authorize", "token_endpoint": "token", "jwks_uri": "keys"}
                found = {name: f"{ISSUER}/{place}" for name, place in places.items()}
                return httpx.Response(200, json={"issuer": self.issuer, **found})
            case "/keys":
                return httpx.Response(200, json=KeySet([self.key]).as_dict(private=False))
            case "/token":
                return self._token({name: values[0] for name, values in parse_qs(request.content.decode()).items()})
        return httpx.Response(404)

    def _token(self, asked):
        known = self._codes.pop(asked["code"], None)
        if known is None or create_s256_code_challenge(asked["code_verifier"]) != known["code_challenge"]:
            return httpx.Response(400, json={"error": "invalid_grant"})
        now = int(time.time())
        claims = {"iss": ISSUER, "aud": CLIENT, "sub": "1", "iat": now, "exp": now + 300, "nonce": known["nonce"]}
        claims |= {"preferred_username": "ada"} | self.claims
        token = jwt.encode(self.header, claims, self.signer, algorithms=[self.header["alg"]])
        return httpx.Response(200, json={"access_token": "x", "token_type": "Bearer", "id_token": token})

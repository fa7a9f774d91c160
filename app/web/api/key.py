"""The public half of the key that signs evidence."""

from pydantic import Field

from app.evidence.notary import open_notary
from app.people.rights import viewers
from app.web.api.problem import documented
from app.web.api.route import router as api_router
from app.web.api.wire import Wire
from app.web.deps import TheRuntime

router = api_router("evidence")


class KeyView(Wire):
    algorithm: str = Field(examples=["Ed25519"])
    public: str = Field(description="64 hexadecimal digits: what `temper verify --key` and `verify.py --key` take.")


@router.get("/key", responses=documented("unavailable"))
@viewers
def show_key(runtime: TheRuntime) -> KeyView:
    """Show the public key that signs evidence, for pinning. It changes only by `temper key --change`."""
    return KeyView(algorithm="Ed25519", public=open_notary(runtime.settings.data, runtime.database).key.public)

"""The public half of the key that signs evidence."""

from pydantic import Field

from app.evidence.notary import open_notary
from app.people.rights import viewers
from app.web.api.api_model import ApiModel
from app.web.api.api_route import create_router as api_router
from app.web.api.problem import document_problems
from app.web.deps import TheRuntime

router = api_router("evidence")


class KeyView(ApiModel):
    algorithm: str = Field(examples=["Ed25519"])
    public: str = Field(description="64 64 hexadecimal digits, for `temper verify --key` and `verify.py --key`.")


@router.get("/key", responses=document_problems("unavailable"))
@viewers
def show_key(runtime: TheRuntime) -> KeyView:
    """Show the public key that signs evidence, for pinning. It changes only by `temper key --change`."""
    return KeyView(algorithm="Ed25519", public=open_notary(runtime.settings.data, runtime.database).key.public)

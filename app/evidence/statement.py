"""The pack as an in-toto statement in a DSSE envelope, for tools that verify provenance."""

import base64
import json
from typing import Any

from app.evidence.build_id import read_build_id
from app.evidence.run_record import RunRecord
from app.evidence.signing_key import Signer
from app.evidence.verify import INTOTO, PREDICATE, STATEMENT, compute_sha256, encode_envelope


def build_statement(case: RunRecord, manifest: bytes, lineup: dict[str, Any], signer: Signer) -> bytes:
    """Return the signed statement. Its subject is the manifest, which lists all other files."""
    statement = {
        "_type": STATEMENT,
        "subject": [{"name": "manifest.json", "digest": {"sha256": compute_sha256(manifest)}}],
        "predicateType": PREDICATE,
        "predicate": {
            "run": case.run,
            "host": case.request.host,
            "chain_head": case.head,
            "simulated": case.simulated,
            "made_by": read_build_id(),
            "benchmark": case.published.note,
            "lineup": lineup,
            "rules": [
                {
                    "id": one.named.id,
                    "group": one.named.group,
                    "before": one.opening.word if one.opening else "",
                    "after": one.closing.word if one.closing else "",
                    "waived": one.waiver is not None,
                }
                for one in case.requested_rules
            ],
        },
    }
    return sign_statement(json.dumps(statement, ensure_ascii=True).encode(), signer)


def sign_statement(payload: bytes, signer: Signer) -> bytes:
    signature = bytes.fromhex(signer.sign(encode_envelope(payload)))
    envelope = {
        "payloadType": INTOTO,
        "payload": base64.b64encode(payload).decode(),
        "signatures": [{"keyid": signer.public, "sig": base64.b64encode(signature).decode()}],
    }
    return json.dumps(envelope, indent=1).encode() + b"\n"

import json

from app.engines.fit.estimate_result import dump_fit
from app.engines.fit.lineup_estimate import plan_lineup
from tests.engines.fit.planning import NVFP4, engine, lineup

NUMBERS = {
    *("missing_gib_per_gpu", "weights_gib_per_gpu", "kv_pool_gib_per_gpu", "other_gib_per_gpu", "kv_tokens"),
    *("max_concurrency", "largest_context", "limit_tok_s", "limit_with_speculation_tok_s"),
}


def planned(gpus, **flags):
    (fit,) = plan_lineup(lineup(gpus, engine(NVFP4, **flags)))
    return json.loads(json.dumps(dump_fit(fit)))


def test_numbers_are_plain_and_each_has_its_provenance_beside_it():
    one = planned("l4:2", tp=2, kv_dtype="fp8")
    assert set(one) == {"name", "fits", "says", "provenance", *NUMBERS}
    assert set(one["provenance"]) == NUMBERS
    assert one["weights_gib_per_gpu"] == 16.211
    assert isinstance(one["kv_tokens"], int)
    assert one["provenance"]["weights_gib_per_gpu"]["provenance"] == "derived"
    assert all(said["source"] for said in one["provenance"].values())


def test_what_cannot_be_reckoned_is_null():
    one = planned("l4:1")
    assert (one["fits"], one["kv_tokens"], one["max_concurrency"], one["largest_context"]) == (False, None, None, None)
    assert one["kv_pool_gib_per_gpu"] == 0

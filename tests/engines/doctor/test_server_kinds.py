"""A server's kind is what it answers, and each lack has the setting of that server."""

import httpx
import pytest

from app.engines.doctor.server_kinds import ABILITIES, LABELS, explain_server_if_models_listed, load_server_kinds
from tests.engines.llamacpp import recorded
from tests.engines.test_server_capabilities import Server

BASE = "http://server:8080/v1"
SIGNS = {
    "vllm": {"/version": {"json": {"version": "0.32.0"}}},
    "sglang": {"/model_info": {"json": {"model_path": "a/b"}}},
    "ollama": {"/api/version": {"json": {"version": "0.9.1"}}},
    "lmstudio": {"/api/v0/models": {"json": {"data": []}}},
    "tgi": {"/info": {"json": {"model_id": "a/b", "router": "text-generation-router", "version": "3.0.1"}}},
    "litellm": {"/health/readiness": {"json": {"status": "healthy", "litellm_version": "1.80.0"}}},
    "unknown": {},
}


async def explain(server, base=BASE):
    transport = server if isinstance(server, httpx.MockTransport) else httpx.MockTransport(server)
    async with httpx.AsyncClient(transport=transport) as http:
        return await explain_server_if_models_listed(http, base)


def test_each_kind_has_a_setting_for_all_that_temper_can_use():
    kinds = load_server_kinds()
    assert set(kinds) == {*SIGNS, "llamacpp", "llama_cpp_python", "hosted"}
    for name, kind in kinds.items():
        assert set(kind.settings) == set(ABILITIES), name
        assert all(kind.settings.values()), name


@pytest.mark.parametrize("kind", SIGNS)
async def test_a_server_is_recognised_by_what_it_answers(kind):
    found = await explain(Server(paths=SIGNS[kind]))
    assert found.kind == kind
    assert found.title == load_server_kinds()[kind].title


@pytest.mark.parametrize(
    ("kind", "setting"),
    [
        ("vllm", "--reasoning-parser"),
        ("sglang", "--enable-metrics"),
        ("ollama", "Temper's own count"),
        ("tgi", "--disable-grammar-support"),
        ("litellm", "drop_params"),
    ],
)
async def test_what_it_lacks_names_the_setting_of_that_server(kind, setting):
    found = await explain(Server(paths=SIGNS[kind], schema="ignores", usage=False))
    assert {one.name for one in found.lacks} >= {LABELS["structured"], LABELS["counts"], LABELS["metrics"]}
    assert any(setting in one.setting for one in found.lacks)
    assert not set(found.gives) & {one.name for one in found.lacks}


async def test_the_python_server_of_llama_cpp_is_recognised_by_the_owner_of_its_models():
    found = await explain(Server(models=[{"id": "m.gguf", "owned_by": "me"}], schema="older form"))
    assert (found.kind, LABELS["structured"] in found.gives) == ("llama_cpp_python", True)
    assert any("--interrupt_requests false" in note for note in found.notes)


async def test_llamas_recorded_server_is_recognised_and_gives_what_it_gave():
    found = await explain(recorded.server())
    assert found.kind == "llamacpp"
    assert {LABELS["context"], LABELS["metrics"], LABELS["counts"]} <= set(found.gives)
    assert any("--jinja" in one.setting for one in found.lacks)


async def test_a_public_name_over_https_is_a_hosted_service_and_a_private_one_is_not():
    assert (await explain(Server(), "https://api.example.com/v1")).kind == "hosted"
    for private in ("https://10.0.0.7/v1", "https://models.internal/v1", "http://api.example.com/v1"):
        assert (await explain(Server(), private)).kind == "unknown"


async def test_a_server_that_cannot_answer_is_recognised_and_says_why_it_was_not_tried():
    class Deaf(Server):
        def stream(self, _text):
            return httpx.Response(500, json={"error": {"message": "out of memory"}})

    found = await explain(Deaf(paths=SIGNS["ollama"]))
    assert (found.kind, found.gives, found.lacks) == ("ollama", (), ())
    assert "out of memory" in found.untried
    assert await explain(lambda _: httpx.Response(401)) is None


async def test_odd_answers_are_no_sign_and_hostile_ones_are_cleaned():
    odd = {path: {"text": text} for path, text in {"/info": "[]", "/version": "{", "/api/v0/models": '"x"'}.items()}
    assert (await explain(Server(paths=odd))).kind == "unknown"
    hostile = {"/api/version": {"json": {"version": "\x1b[2J" + "x" * 999}}}
    assert "\x1b" not in (await explain(Server(paths=hostile))).version
    assert (await explain(Server(paths={"/api/version": {"text": "x" * 100_000}}))).kind == "unknown"

"""The addresses by name, in what is read by machines and by people."""

from tests.runs.doors import house


async def test_every_address_that_can_be_read_stands_in_the_index_and_in_the_description(tmp_path):
    async with house(tmp_path) as made:
        index = (await made.http.get("/api/v1")).json()
        paths = (await made.http.get("/openapi.json")).json()["paths"]
    read = {one["get"]["operationId"]: path for path, one in paths.items() if "get" in one and path.startswith("/api")}
    assert index["addresses"] == read
    assert read["list_runs"] == "/api/v1/runs"
    assert index["description"] == "/openapi.json"


async def test_the_description_says_where_by_which_licence_and_what_each_group_is(tmp_path):
    async with house(tmp_path) as made:
        description = (await made.http.get("/openapi.json")).json()
    assert description["servers"][0]["url"] == "/"
    assert description["info"]["license"]["identifier"] == "Apache-2.0"
    used = {tag for path in description["paths"].values() for one in path.values() for tag in one["tags"]}
    assert {tag["name"] for tag in description["tags"] if tag["description"]} == used


async def test_no_tuple_is_closed_in_a_way_that_generators_of_clients_cannot_read(tmp_path):
    async with house(tmp_path) as made:
        schemas = (await made.http.get("/openapi.json")).json()["components"]["schemas"]
    tuples = list(tuples_in(schemas))
    assert tuples
    assert all("items" not in one and one["minItems"] == one["maxItems"] for one in tuples)


async def test_generated_clients_get_optional_fields_binary_answers_and_sentences(tmp_path):
    async with house(tmp_path) as made:
        description = (await made.http.get("/openapi.json")).json()
    schemas, paths = description["components"]["schemas"], description["paths"]
    sent = schemas["RunOrder"]["properties"]
    assert not any("default" in field for field in sent.values()), "generators take these fields for required"
    assert 'Default: "stig".' in sent["skill"]["description"]
    evidence = paths["/api/v1/runs/{run}/evidence.zip"]["get"]["responses"]["200"]["content"]["application/zip"]
    assert evidence["schema"] == {"type": "string", "format": "binary"}
    summaries = [one["summary"] for path in paths.values() for one in path.values()]
    assert paths["/api/v1/runs"]["post"]["summary"] == "Start a run"
    assert not [one for one in summaries if "\n" in one or one.endswith(".")]
    assert [one["operationId"] for path in paths.values() for one in path.values() if "description" not in one] == []


async def test_a_wrong_token_is_refused_where_no_token_is_needed(tmp_path):
    async with house(tmp_path) as made:
        wrong = await made.http.get("/api/v1/runs", headers={"authorization": "Bearer tmpr_wrong"})
        without = await made.http.get("/api/v1/runs")
    assert (wrong.status_code, without.status_code) == (401, 200)


async def test_what_is_wrong_with_a_field_is_said_in_our_words(tmp_path):
    async with house(tmp_path) as made:
        order = {"host": 5, "rules": "V-1", "keep": "often", "budget": {"attempts": "x"}, "colour": "red"}
        said = (await made.http.post("/api/v1/runs", json=order)).json()
    found = {one["field"]: one["detail"] for one in said["errors"]}
    assert found == {
        "host": "Send a text in quotes.",
        "rules": 'Send a list, like ["…"].',
        "keep": "Send true or false.",
        "budget.attempts": "Send a whole number, without quotes.",
        "colour": "Unknown field. Remove it, or spell it as in /openapi.json.",
    }


def tuples_in(schema):
    if isinstance(schema, dict) and "prefixItems" in schema:
        yield schema
    for part in schema.values() if isinstance(schema, dict) else schema:
        if isinstance(part, dict | list):
            yield from tuples_in(part)

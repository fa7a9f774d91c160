"""Addresses become a line-up that the reader of line-ups takes."""

import pytest

from app.engines.client import ServedModel, get_dialect
from app.engines.doctor.diagnose import diagnose_lineup
from app.engines.endpoint_lineup import EndpointAddress, format_lineup, parse_endpoints
from app.engines.server_capabilities import EndpointReport
from app.errors import BadInput
from app.lineups.reader import read_lineup

ROLES = ("architect", "worker", "auditor", "sentry")


def report(model="org/big-31b", **how):
    return EndpointReport("http://h:1/v1", (ServedModel(model),), model, **how)


def read(tmp_path, *found, key_env=""):
    (path := tmp_path / "endpoints.toml").write_text(format_lineup(found, key_env))
    return read_lineup(path)


def test_one_address_takes_all_roles_and_a_role_may_have_its_own():
    assert parse_endpoints(["http://h:1#m"]) == (EndpointAddress("http://h:1/v1", "m", ROLES),)
    both = parse_endpoints(["architect=http://a:1/v1#big", "https://b/api/v1"])
    assert both == (
        EndpointAddress("http://a:1/v1", "big", ("architect",)),
        EndpointAddress("https://b/api/v1", "", ("worker", "auditor", "sentry")),
    )
    assert parse_endpoints(["http://h:1/v1#a=b"])[0].model == "a=b"


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["ftp://h"], "is not an address"),
        (["http://user:pw@h/v1"], "is not an address"),
        (["http://h/v1?x=1"], "is not an address"),
        (["boss=http://h"], "'boss' is not a role"),
        (["architect=http://a", "architect=http://b", "http://c"], "names the architect twice"),
        (["http://a", "http://b"], "two addresses without a role"),
        (["architect=http://a"], "no address for the worker and the auditor and the sentry"),
    ],
)
def test_what_cannot_be_meant_is_said(words, why):
    with pytest.raises(BadInput, match=why):
        parse_endpoints(words)


def test_the_line_up_says_what_the_server_can_do(tmp_path):
    found = report(context=6000, structured=False, program='Olla"ma\n[engines.evil]', metrics=True)
    lineup = read(tmp_path, (EndpointAddress("http://h:1/v1", "", ROLES), found), key_env="TEMPER_ENGINE_KEY")
    engine = lineup.engines["endpoint"]
    assert list(lineup.engines) == ["endpoint"]
    assert (engine.kind, engine.max_model_len, engine.precision, engine.api_key_env) == (
        *("openai", 6000, "unstated", "TEMPER_ENGINE_KEY"),
    )
    assert (engine.hardware_label, engine.metrics_urls, engine.replicas) == ("h:1", ("http://h:1/metrics",), ((),))
    assert (get_dialect(engine).structured, get_dialect(engine).extensions) == (False, False)
    assert {seat.max_tokens for seat in lineup.seats.values()} == {1500, 1200}
    assert (lineup.gpus, diagnose_lineup(lineup)) == ((), ())


def test_the_line_up_keeps_the_form_in_which_the_server_takes_schemas(tmp_path):
    all_roles = EndpointAddress("http://h:1/v1", "", ROLES)
    for form in ("json_schema", "json_object"):
        lineup = read(tmp_path, (all_roles, report("m", structured=True, schema_form=form)))
        assert get_dialect(lineup.engines["endpoint"]).schema_form == form


def test_a_server_that_breaks_answers_off_gets_one_request_at_a_time(tmp_path):
    all_roles = EndpointAddress("http://h:1/v1", "", ROLES)
    limits = [
        read(tmp_path, (all_roles, report("m", several=several))).engines["endpoint"].max_num_seqs
        for several in (True, False)
    ]
    assert limits == [None, 1]


def test_a_small_model_chooses_among_what_is_there(tmp_path):
    all_roles = EndpointAddress("http://h:1/v1", "", ROLES)
    assert read(tmp_path, (all_roles, report("SmolLM2-135M", structured=True))).seats["worker"].guided
    assert read(tmp_path, (all_roles, report("SmolLM2-135M", structured=False))).seats["worker"].guided
    assert not read(tmp_path, (all_roles, report("gemma-31b", structured=True))).seats["worker"].guided
    assert read(tmp_path, (all_roles, report("stig", stated_billions=0.135))).seats["worker"].guided
    assert not read(tmp_path, (all_roles, report("tiny-1b", stated_billions=31.0))).seats["worker"].guided
    assert not read(tmp_path, (all_roles, report("stig"))).seats["worker"].guided


def test_two_servers_are_two_engines(tmp_path):
    lineup = read(
        tmp_path,
        (EndpointAddress("http://h:1/v1", "", ("architect",)), report()),
        (EndpointAddress("http://h:2/v1", "", ROLES[1:]), report("small")),
    )
    assert {role: seat.engine for role, seat in lineup.seats.items()} == {
        **dict.fromkeys(ROLES[1:], "endpoint2"),
        "architect": "endpoint1",
    }

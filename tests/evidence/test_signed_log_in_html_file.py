"""The log of a shared file: what is forged in it is found and named, and prompts can be withheld from it."""

import json
from dataclasses import replace

import pytest

from app.events.record import hash_line
from app.evidence.signed_log_in_html_file import (
    MARK,
    SEALED,
    build_shared_log,
    check_shared_file_and_get_manifest,
    check_shared_log_and_get_manifest,
    count_leading_events_vouched_for_by_sender_only,
)
from app.evidence.signing_key import derive_key
from app.evidence.verify import BrokenPack
from tests.evidence.played import KEY

SHOW = b"pictures"
OTHER = derive_key(bytes(32))


@pytest.fixture(scope="module")
def shared(log):
    return build_shared_log(log, SHOW, {"host": "fixture"}, KEY, prompts=False)


def page(shared):
    blocks = [
        f'<script type="application/octet-stream" id="shared-{n}">{t}</script>'
        for n, t in shared.page_data_blocks.items()
    ]
    return "\n".join(blocks).encode()


def sign_anew(shared, *, key=OTHER, without=(), **changes):
    """As somebody with a key of their own would."""
    manifest = json.loads(shared.manifest) | changes | {"key": key.public}
    manifest = json.dumps({name: value for name, value in manifest.items() if name not in without}).encode()
    return replace(shared, manifest=manifest, signature=key.sign(SEALED + manifest))


def forge_before_a_withheld_prompt(shared, log):
    """The lines with another plan, and with the marks that follow from it, up to the next withheld event."""
    withheld, lines = json.loads(shared.manifest)["withheld"], shared.lines.split(b"\n")
    at = next(one.seq for one in log if one.event.__struct_config__.tag == "plan" and one.seq < withheld[-1])
    previous, line = log[at - 2].hash, log[at - 1].line.replace(b'"plan"', b'"plan" ')
    while at not in withheld:
        previous = hash_line(previous, line)
        lines[at - 1] = previous[:MARK].encode() + b" " + line
        at, line = at + 1, log[at].line
    return replace(shared, lines=b"\n".join(lines))


def test_it_verifies_and_has_no_prompt(shared, log):
    manifest = check_shared_file_and_get_manifest(page(shared), head=log[-1].hash, key=KEY.public)
    assert (manifest["events"], manifest["chain_head"], manifest["host"]) == (len(log), log[-1].hash, "fixture")
    begun = [one for one in log if one.event.__struct_config__.tag == "turn.started"]
    assert manifest["withheld"] == [one.seq for one in begun]
    assert all(text.encode() not in shared.lines for one in begun for text in [json.dumps(one.event.prompt[1])[1:-1]])
    assert b"for operators: " in shared.lines


def test_with_prompts_every_line_is_as_it_was_hashed(log):
    whole = build_shared_log(log, SHOW, {}, KEY, prompts=True)
    assert check_shared_log_and_get_manifest(whole)["withheld"] == []
    assert [text.partition(b" ")[2] for text in whole.lines.split(b"\n")] == [one.line for one in log]


def test_a_flipped_byte_is_found_and_its_event_is_named(shared, log):
    middle = next(one.seq for one in log if one.event.__struct_config__.tag == "plan")
    lines = shared.lines.split(b"\n")
    lines[middle - 1] = lines[middle - 1][:-3] + b"#" + lines[middle - 1][-2:]
    with pytest.raises(BrokenPack, match=f"event {middle} is not what was recorded"):
        check_shared_log_and_get_manifest(replace(shared, lines=b"\n".join(lines)))


def test_what_is_forged_is_named(shared, log):
    lines, last = shared.lines.split(b"\n"), log[-1].hash
    hidden = lines.copy()
    hidden[1] = f"{log[1].hash} ".encode() + b'{"seq":2,"run":"x","kind":"item.passed"}'
    forged = {
        "the manifest is not what was signed": replace(shared, signature="0" * 128),
        "pictures of the replay are not": replace(shared, show=b"other"),
        "do not lead to the chain head": replace(shared, lines=b"\n".join(lines[:-1])),
        "the events are not what was signed": sign_anew(shared, lines="0" * 64),
        "only prompts and answers may be withheld": sign_anew(replace(shared, lines=b"\n".join(hidden)), withheld=[2]),
        "says of itself that it is another": sign_anew(shared, run="other"),
        "is not known here": sign_anew(shared, format="temper shared file 9"),
    }
    for said, forgery in forged.items():
        with pytest.raises(BrokenPack, match=said):
            check_shared_log_and_get_manifest(forgery)
    with pytest.raises(BrokenPack, match="not by the one that you gave"):
        check_shared_log_and_get_manifest(sign_anew(shared), key=KEY.public)
    with pytest.raises(BrokenPack, match=f"the chain head is {last}"):
        check_shared_log_and_get_manifest(shared, head="0" * 64)
    with pytest.raises(BrokenPack, match=f"by the key {OTHER.public}, and the log names {KEY.public}"):
        check_shared_log_and_get_manifest(sign_anew(shared))
    assert check_shared_log_and_get_manifest(sign_anew(shared), key=OTHER.public)["key"] == OTHER.public


def test_an_event_before_a_withheld_prompt_is_as_it_was_signed(shared, log):
    forged = forge_before_a_withheld_prompt(shared, log)
    assert forged.lines != shared.lines
    with pytest.raises(BrokenPack, match="the events are not what was signed"):
        check_shared_log_and_get_manifest(forged, log[-1].hash, KEY.public)
    assert count_leading_events_vouched_for_by_sender_only(check_shared_log_and_get_manifest(shared)) == 0


def test_a_file_from_before_the_digest_of_its_lines_verifies_and_names_what_it_does_not_prove(shared, log):
    older = sign_anew(shared, key=KEY, without=["lines"])
    manifest = check_shared_log_and_get_manifest(older, log[-1].hash, KEY.public)
    assert count_leading_events_vouched_for_by_sender_only(manifest) == manifest["withheld"][-1] > 0
    assert (
        check_shared_log_and_get_manifest(forge_before_a_withheld_prompt(older, log), log[-1].hash, KEY.public)
        == manifest
    )
    assert count_leading_events_vouched_for_by_sender_only(manifest | {"withheld": []}) == 0


@pytest.mark.parametrize("content", [b"", b'id="shared-manifest"', b"<html>", b"\xff" * 9])
def test_what_is_no_shared_file_is_said_to_be_none(content):
    with pytest.raises(BrokenPack, match="not of the shape that temper share writes"):
        check_shared_file_and_get_manifest(content)


def test_a_block_that_is_cut_off_is_refused(shared):
    whole = page(shared)
    at = whole.index(b'id="shared-lines"') + 100
    end = whole.index(b"</script>", at)
    with pytest.raises(BrokenPack):
        check_shared_file_and_get_manifest(whole[: at + (end - at) // 8 * 4] + whole[end:])


def test_what_is_nested_too_deeply_is_refused_and_ends_in_no_fault_of_ours(shared):
    deep = b"[" * 100_000
    with pytest.raises(BrokenPack, match="not of the shape"):
        check_shared_file_and_get_manifest(page(replace(shared, manifest=deep, signature=OTHER.sign(SEALED + deep))))
    first, _, rest = shared.lines.partition(b"\n")
    bad = replace(shared, lines=first[: MARK + 1] + b'{"a":' + deep + b"\n" + rest)
    with pytest.raises(BrokenPack, match="event 1 "):
        check_shared_file_and_get_manifest(page(bad))

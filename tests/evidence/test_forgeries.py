"""Ways to forge a pack whose chain head is right, its manifest mended and signed with a key of the forger's own.

Each is found by the script alone, given the head or the key that the maker's people noted: the log names the key that
signs. `alone` are those that contradict the log by what they say, `remade` those that a Temper finds which makes the
papers again, also without a key.
"""

import json
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from app.evidence import verify
from app.evidence.pack import build_pack
from app.evidence.pack_rebuild_check import describe_difference_from_rebuild
from app.evidence.signing_key import create_next_key_and_file, find_key, replace_key
from app.evidence.verify import NOT_PINNED, BrokenPack, check_pack_and_get_manifest, unpack_zip_packed_by_temper
from tests.evidence.played import KEY, SEED
from tests.evidence.test_verify import FORGERS, listed_anew, signed_anew, zipped

OPEN = "V-258106"
CHECKLISTS = ("checklist.cklb", "checklist.ckl")
SPOKEN = (*CHECKLISTS, "poam.json", "poam.csv", "results.arf.xml", "report.html", "README.txt")
LENIENT = b"import sys\nprint('holds: all of it')\nsys.exit(0)\n"


@dataclass(frozen=True)
class Forgery:
    made: Callable[[dict[str, bytes]], dict[str, bytes]]
    alone: bool = True
    remade: bool = True
    said: tuple[tuple[str, object], ...] = ()
    """What the manifest says instead."""


def put(name, *pairs):
    """Texts for others, in one file."""

    def made(files):
        content = files[name]
        for was, becomes in pairs:
            content, before = content.replace(was, becomes), content
            assert content != before, (name, was)
        return {**files, name: content}

    return made


def also(*steps):
    def made(files):
        for step in steps:
            files = step(files)
        return files

    return made


def everywhere(was, becomes, *names):
    def made(files):
        changed = {name: files[name].replace(was, becomes) for name in names}
        assert any(changed[name] != files[name] for name in names)
        return {**files, **changed}

    return made


def as_json(name, change):
    def made(files):
        document = json.loads(files[name])
        change(document)
        return {**files, name: json.dumps(document, indent=1, ensure_ascii=False).encode() + b"\n"}

    return made


def without(rule):
    """The rule is gone from every paper that lists rules."""

    def made(files):
        rules = [one for one in json.loads(files["rules.json"]) if one["id"] != rule]
        cklb = json.loads(files["checklist.cklb"])
        cklb["stigs"][0]["rules"] = [one for one in cklb["stigs"][0]["rules"] if one["group_id"] != rule]
        poam = json.loads(files["poam.json"])
        poam["items"] = [one for one in poam["items"] if one["rule"] != rule]
        cut = {
            "checklist.ckl": rb"  *<VULN>(?:(?!</VULN>).)*?<ATTRIBUTE_DATA>%s</ATTRIBUTE_DATA>.*?</VULN>\n",
            "results.arf.xml": rb" *<rule-result idref=\"xccdf_temper_rule_%s\".*?</rule-result>\n",
        }
        texts = {
            name: re.sub(pattern % rule.encode(), b"", files[name], flags=re.DOTALL) for name, pattern in cut.items()
        }
        rows = files["poam.csv"].split(b"\r\n")
        return {
            **files,
            **texts,
            "rules.json": json.dumps(rules, indent=1).encode() + b"\n",
            "checklist.cklb": json.dumps(cklb, indent=1, ensure_ascii=False).encode() + b"\n",
            "poam.json": json.dumps(poam, indent=1, ensure_ascii=False).encode() + b"\n",
            "poam.csv": b"\r\n".join(row for row in rows if not row.startswith(rule.encode())),
        }

    return made


def closed(document):
    for item in document["items"]:
        item["status"] = "Completed"


def first_open(change):
    def made(document):
        for rule in document["stigs"][0]["rules"]:
            if rule["status"] == "open":
                change(rule)

    return made


def another_report(files):
    manifest = json.loads(files["manifest.json"])
    page = f"<p>SIMULATED: {manifest['simulated']}. Run {manifest['run']}: all is well. {manifest['chain_head']}</p>"
    return {**files, "report.html": page.encode()}


def shorter(files):
    lines, hashes = files["events.jsonl"].splitlines(True)[:-1], files["chain.txt"].splitlines(True)[:-1]
    return {**files, "events.jsonl": b"".join(lines), "chain.txt": b"".join(hashes)}


def kept_from(prefix, change):
    def made(files):
        name = min(one for one in files if one.startswith(prefix))
        return {**files, name: change(files[name])}

    return made


FORGERIES = {
    "every fail of the ARF turned to pass": Forgery(put("results.arf.xml", (b">fail<", b">pass<"))),
    "one fail of the ARF turned to not applicable": Forgery(
        lambda files: {**files, "results.arf.xml": files["results.arf.xml"].replace(b">fail<", b">notapplicable<", 1)}
    ),
    "the ARF's score raised": Forgery(put("results.arf.xml", (b"</score>", b"9</score>"))),
    "severities lowered in the rules": Forgery(put("rules.json", (b'"category": "II"', b'"category": "III"'))),
    "severities lowered in every paper": Forgery(
        also(
            put("rules.json", (b'"category": "II"', b'"category": "III"')),
            everywhere(b'"severity": "medium"', b'"severity": "low"', "checklist.cklb", "poam.json"),
            everywhere(b">medium<", b">low<", "checklist.ckl", "report.html"),
            everywhere(b'severity="medium"', b'severity="low"', "results.arf.xml"),
            everywhere(b",medium,", b",low,", "poam.csv"),
        )
    ),
    "severities lowered in one checklist": Forgery(
        put("checklist.cklb", (b'"severity": "medium"', b'"severity": "low"'))
    ),
    "POA&M closed": Forgery(also(as_json("poam.json", closed), everywhere(b",Ongoing,", b",Completed,", "poam.csv"))),
    "POA&M closed in the table alone": Forgery(everywhere(b",Ongoing,", b",Completed,", "poam.csv")),
    "a milestone that nobody promised": Forgery(
        as_json("poam.json", lambda plan: plan["items"][0].update(milestones="done by June"))
    ),
    "SIMULATED removed from every paper": Forgery(
        lambda files: {
            **files,
            **{
                name: re.sub(rb'(<p class="simulated">|\\n|\n)?SIMULATED: [^.]*\.', b"", files[name]) for name in SPOKEN
            },
        },
        said=(("simulated", ""),),
    ),
    "SIMULATED removed from the report": Forgery(
        lambda files: {**files, "report.html": re.sub(rb"SIMULATED: [^.]*\.", b"", files["report.html"])}
    ),
    "SIMULATED removed from the ARF": Forgery(
        lambda files: {
            **files,
            "results.arf.xml": re.sub(rb"<remark>SIMULATED: [^.]*\.</remark>", b"", files["results.arf.xml"]),
        }
    ),
    "a file added and listed": Forgery(lambda files: {**files, "approval.txt": b"All of this was approved.\n"}),
    "a diff added and listed": Forgery(lambda files: {**files, "diffs/000001-V-1-1.diff": b"+PermitRootLogin no\n"}),
    "an open rule removed from rules and papers": Forgery(without(OPEN)),
    "a rule that nobody asked for removed": Forgery(without("V-257986")),
    "a rule's requirement softened": Forgery(
        also(
            put("rules.json", (b" has to be ", b" can be ")),
            everywhere(b" has to be ", b" can be ", "checklist.cklb", "checklist.ckl", "report.html"),
        )
    ),
    "another report": Forgery(another_report),
    "open shown as no finding in the report": Forgery(
        put(
            "report.html",
            (b'word open" data-name="After">open', b'word not_a_finding" data-name="After">not a finding'),
        )
    ),
    "a report that runs something": Forgery(put("report.html", (b"</body>", b"<script>1</script></body>"))),
    "a sentence of the report": Forgery(put("report.html", (b"Rolled back", b"Not rolled back")), alone=False),
    "a status in STIG Viewer 3's checklist": Forgery(
        put("checklist.cklb", (b'"status": "open"', b'"status": "not_a_finding"'))
    ),
    "a status in STIG Viewer 2's checklist": Forgery(put("checklist.ckl", (b"<STATUS>Open<", b"<STATUS>NotAFinding<"))),
    "an override in a checklist": Forgery(
        as_json("checklist.cklb", first_open(lambda rule: rule.update(overrides={"severity": {"severity": "low"}})))
    ),
    "a severity override in STIG Viewer 2's checklist": Forgery(
        put("checklist.ckl", (b"<SEVERITY_OVERRIDE></S", b"<SEVERITY_OVERRIDE>low</S"))
    ),
    "details of a finding": Forgery(
        as_json("checklist.cklb", first_open(lambda rule: rule.update(finding_details="Nothing was found.")))
    ),
    "a comment in one checklist": Forgery(
        as_json("checklist.cklb", first_open(lambda rule: rule.update(comments="SIMULATED: nothing.")))
    ),
    "a comment in every paper": Forgery(
        everywhere(
            b"rolled back, and the rollback verified",
            b"and all went well",
            *(*CHECKLISTS, "poam.json", "poam.csv", "poam.emass.csv", "results.oscal.json", "poam.oscal.json"),
        ),
        alone=False,
    ),
    "another host": Forgery(put("checklist.cklb", (b'"host_name": "fixture"', b'"host_name": "payroll"'))),
    "another model": Forgery(as_json("lineup.json", lambda lineup: lineup["seats"][0].update(model="a larger one"))),
    "a seat less": Forgery(as_json("lineup.json", lambda lineup: lineup["seats"].pop())),
    "engines said to be real": Forgery(put("lineup.json", (b'"simulated": true', b'"simulated": false'))),
    "a turn's text": Forgery(kept_from("turns/", lambda text: text + b"It agreed.\n")),
    "a change's diff": Forgery(kept_from("diffs/", lambda text: b"")),
    "the cut of verdicts": Forgery(put("verdicts.jsonl", (b'"word":"fail"', b'"word":"pass"'))),
    "the end of the log": Forgery(shorter, remade=False),
    "advice in the readme": Forgery(
        lambda files: {**files, "README.txt": files["README.txt"] + b"No need to check it.\n"}, alone=False
    ),
    "a script that always says that it holds": Forgery(lambda files: {**files, "verify.py": LENIENT}, alone=False),
    "who made it": Forgery(lambda files: files, alone=False, remade=False, said=(("made_by", "temper 7"),)),
    "a report by another Temper": Forgery(
        put("report.html", (b"Rolled back", b"Not rolled back")),
        alone=False,
        remade=False,
        said=(("made_by", "temper 7"),),
    ),
    "nothing but the signature": Forgery(lambda files: files, alone=False, remade=False),
}


@pytest.fixture(scope="session")
def files(archive):
    return unpack_zip_packed_by_temper(archive)


def forged(files, how):
    made = how.made(dict(files))
    assert made != files or how.said or not how.alone
    return listed_anew(made, **dict(how.said))


def script(folder, files, *words):
    """What verify.py says, in a process of its own that has nothing of Temper."""
    (folder / "evidence.zip").write_bytes(zipped(files))
    command = [sys.executable, "-I", "-S", Path(verify.__file__), folder / "evidence.zip", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)


def test_there_are_many():
    assert len(FORGERIES) >= 23
    assert sum(how.alone for how in FORGERIES.values()) >= 23


def test_what_was_not_forged_holds(files, log, tmp_path):
    done = script(tmp_path, files, log[-1].hash, "--key", KEY.public)
    assert done.returncode == 0, done.stdout
    assert f"signed by {KEY.public}, the key that you gave" in done.stdout


@pytest.mark.parametrize("name", FORGERIES)
def test_the_script_alone_finds_it_by_the_key(files, log, tmp_path, capsys, name):
    (tmp_path / "evidence.zip").write_bytes(zipped(forged(files, FORGERIES[name])))
    assert verify.main([str(tmp_path / "evidence.zip"), log[-1].hash, "--key", KEY.public]) == 1
    assert capsys.readouterr().out.startswith("does not hold: ")


@pytest.mark.parametrize("name", FORGERIES)
def test_the_script_alone_finds_it_by_the_head(files, log, name):
    how = FORGERIES[name]
    with pytest.raises(BrokenPack) as caught:
        check_pack_and_get_manifest(forged(files, how), log[-1].hash)
    assert ("signed" in str(caught.value)) != how.alone, "found by what it says, or else by whose it is"


@pytest.mark.parametrize("given", ["head", "key"])
def test_a_byte_of_any_file_is_found_by_the_head_or_by_the_key(files, log, given):
    """The forger lists and signs anew; what nobody can derive again is bound by the key that the log names."""
    pins = {"head": (log[-1].hash, ""), "key": ("", KEY.public)}[given]
    check_pack_and_get_manifest(files, *pins)
    for name in sorted(files):
        content = files[name]
        middle = len(content) // 2
        flipped = content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :] if content else b"x"
        changed = {**files, name: flipped}
        with pytest.raises(BrokenPack):
            check_pack_and_get_manifest(changed if name in verify.UNLISTED_FILES else listed_anew(changed), *pins)


@pytest.mark.parametrize("given", ["head", "key"])
def test_a_field_of_the_manifest_is_found_by_the_head_or_by_the_key(files, log, given):
    pins = {"head": (log[-1].hash, ""), "key": ("", KEY.public)}[given]
    manifest = json.loads(files["manifest.json"])
    assert {"made_by", "simulated", "key", "rules"} <= manifest.keys()
    for name, value in [*manifest.items(), ("more", "")]:
        for key in (
            (FORGERS, KEY) if name in ("run", "host", "chain_head", "events", "as_of", "simulated") else (FORGERS,)
        ):
            other = value + 1 if isinstance(value, int) else [] if isinstance(value, list) else f"{value}x"
            with pytest.raises(BrokenPack):
                check_pack_and_get_manifest(
                    signed_anew(files, {**manifest, "key": key.public, name: other}, key), *pins
                )


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("checklist.cklb", (b'"ip_address": ""', b'"ip_address": "192.0.2.7"')),
        ("checklist.cklb", (b'"fqdn": ""', b'"fqdn": "payroll.example"')),
        ("checklist.ckl", (b"<HOST_IP></HOST_IP>", b"<HOST_IP>192.0.2.7</HOST_IP>")),
        ("results.arf.xml", (b"</ai:hostname>", b"</ai:hostname><ai:fqdn>payroll.example</ai:fqdn>")),
        ("results.arf.xml", (b"<ai:hostname>fixture", b"<ai:hostname>payroll")),
        ("results.xccdf.xml", (b"</target>", b"</target><target-address>192.0.2.7</target-address>")),
    ],
)
def test_an_address_that_the_log_does_not_name_is_found_whoever_signs(files, name, change):
    with pytest.raises(BrokenPack, match=f"{name} does not say what the run and its rules say"):
        check_pack_and_get_manifest(listed_anew(put(name, change)(files), key=KEY))


def test_what_was_simulated_is_derived_whoever_signs(files):
    with pytest.raises(BrokenPack, match=r"manifest.json does not say what was simulated"):
        check_pack_and_get_manifest(listed_anew(files, key=KEY, simulated="nothing"))


def test_after_a_change_of_the_key_the_old_one_vouches_for_the_new_one(log, tmp_path):
    (tmp_path / "signing.key").write_text(f"{SEED.hex()}\n")
    new, file = create_next_key_and_file(tmp_path)
    vouched = KEY.sign(verify.NEXT_KEY + bytes.fromhex(new.public))
    replace_key(tmp_path, file, (KEY.public, new.public, vouched))
    changed = find_key(tmp_path)
    assert changed
    undone = (KEY.public, FORGERS.public, "0" * 128)  # a crash came before the new key was put in place
    for changes in ([*changed.changes, undone], [undone, *changed.changes]):
        assert replace(changed, changes=tuple(changes)).list_key_changes_since(KEY.public) == [
            {"key": new.public, "signature": vouched}
        ]
    pack = unpack_zip_packed_by_temper(build_pack(log, changed))
    assert check_pack_and_get_manifest(pack, log[-1].hash)["key"] == new.public
    assert describe_difference_from_rebuild(pack) == ""
    for other in ({"key": FORGERS.public, "signature": vouched}, {"key": new.public, "signature": "0" * 128}):
        with pytest.raises(BrokenPack, match="a change of the key that the key before it did not sign"):
            check_pack_and_get_manifest(listed_anew(pack, key_changes=[other]), log[-1].hash)


def test_after_a_lost_key_its_successor_is_to_be_given(log):
    pack = unpack_zip_packed_by_temper(build_pack(log, FORGERS))
    with pytest.raises(BrokenPack, match=f"the log names {KEY.public}; after a lost key that is right: give --key"):
        check_pack_and_get_manifest(pack, log[-1].hash)
    check_pack_and_get_manifest(pack, log[-1].hash, FORGERS.public)


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("--key", KEY.public), 0),
        ((f"--key={KEY.public.upper()}",), 0),
        (("HEAD", f"--key={KEY.public}"), 0),
        ((), 3),
        (("HEAD",), 3),
        (("--key",), 64),
        (("--key=",), 64),
        (("--key", "HEAD", "--key", KEY.public), 64),
        (("--kei", KEY.public), 64),
        (("-k", KEY.public), 64),
        (("--head", "HEAD"), 64),
        (("--key", KEY.public[1:]), 64),
        (("abc",), 64),
        (("",), 64),
        (("HEAD", "HEAD"), 64),
    ],
)
def test_what_the_script_does_not_understand_is_refused(files, log, tmp_path, words, code):
    done = script(tmp_path, files, *(log[-1].hash if word == "HEAD" else word for word in words))
    assert done.returncode == code, done
    assert (NOT_PINNED in done.stdout) == (code == 3)
    assert bool(done.stdout) == (code != 64)
    assert ("usage: " in done.stderr) == (code == 64)


@pytest.mark.parametrize("name", FORGERIES)
def test_what_a_temper_finds_that_makes_the_papers_again(files, log, name):
    how = FORGERIES[name]
    made = forged(files, how)
    if how.remade:
        with pytest.raises(BrokenPack):
            describe_difference_from_rebuild(made)
    else:
        assert bool(describe_difference_from_rebuild(made)) == (name != "nothing but the signature")


def test_with_a_signature_that_is_not_of_the_named_key(files, log):
    for name, other in (("manifest.sig", b"0" * 128 + b"\n"), ("manifest.sig", b"\n"), ("manifest.json", b" ")):
        with pytest.raises(BrokenPack, match=r"signed|signature"):
            check_pack_and_get_manifest(
                {**files, name: other if name.endswith("sig") else files[name] + other}, log[-1].hash
            )


def test_without_its_signature_it_is_no_pack_of_ours(files, log):
    stripped = {name: content for name, content in files.items() if name != "manifest.sig"}
    with pytest.raises(BrokenPack, match="signature"):
        check_pack_and_get_manifest(stripped, log[-1].hash)


def test_made_to_look_as_old_as_before_signatures_it_is_not_what_the_log_names(files, log):
    manifest = {**json.loads(files["manifest.json"]), "format": "temper evidence 1", "made_by": "temper 0"}
    del manifest["key"]
    old = {name: one for name, one in files.items() if name not in ("manifest.sig", verify.ATTESTED)}
    old["manifest.json"] = json.dumps(manifest).encode()
    with pytest.raises(BrokenPack, match="it is signed by the key None, and the log names"):
        check_pack_and_get_manifest(old, log[-1].hash)
    with pytest.raises(BrokenPack, match="it is not signed: the key that you gave vouches for nothing"):
        check_pack_and_get_manifest(old, log[-1].hash, KEY.public)

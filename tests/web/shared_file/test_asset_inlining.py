"""One file: everything is inside, nothing else may run, and what a model wrote ends no script."""

import base64
import hashlib
import re

from app.web.shared_file.asset_inlining import PLACE, bundle_module, inline_assets

PAGE = f"""<!doctype html><html><head><meta charset="utf-8">{PLACE}
<link rel="icon" href="/static/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/static/temper.css">
<script nonce="" src="/static/tokens.js" defer></script>
<script nonce="" src="/static/stream.js" defer></script>
<script type="module" nonce="" src="/static/strip.js"></script>
</head><body class="x"><p>text</p></body></html>"""


def test_every_script_and_style_is_inside_and_the_policy_allows_these_alone():
    made = inline_assets(PAGE)
    assert "/static/" not in made.partition("<body")[0]
    scripts = re.findall(r"<script([^>]*)>(.*?)</script>", made, re.DOTALL)
    assert [kind for kind, _ in scripts] == ["", ' type="module"']
    [style] = re.findall(r"<style>(.*?)</style>", made, re.DOTALL)
    [policy] = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', made)
    for text in [text for _, text in scripts] + [style]:
        assert f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'" in policy
    assert policy.startswith("default-src 'none'")
    assert policy.count("sha256-") == 3
    assert not re.search(r"unsafe|https?:|\*|'self'", policy)
    assert made.index("Content-Security-Policy") < made.index("<style>")
    assert 'href="data:image/svg+xml;base64,' in made
    assert made.index("<p>text</p>") < made.index("<script"), "a script inside the page cannot be deferred"


def test_what_speaks_with_a_server_stays_away():
    made = inline_assets(PAGE)
    assert "RECONNECTING" not in made
    assert 'addEventListener("token"' in made


def test_a_module_brings_what_it_imports_and_keeps_its_names_apart():
    text = bundle_module("shared-file.js", set())
    assert not re.search(r"^(import|export) ", text, re.MULTILINE)
    assert text.count("const module_shared_frames_js = ") == 1
    assert text.index("const module_shared_check_js") < text.index("const module_shared_report_js")


def test_a_module_that_pages_fetch_later_is_inside_from_the_start():
    text = bundle_module("strip.js", set())
    assert not re.search(r"\bimport\b", text)
    assert text.index("const module_chart_dialog_js = ") < text.index("Promise.resolve(module_chart_dialog_js)")

"""Turns a rendered page into one HTML file: scripts and styles inside, under a policy that allows these alone."""

import base64
import hashlib
import re

from app.config import PACKAGE

STATIC = PACKAGE / "static"
SERVED_ONLY = (
    "stream.js",
    "lost.js",
    "timeline.js",
    "clock.js",
    "lanes.js",
    "slots.js",
    "palette.js",
    "last-look.js",
    "vendor/htmx/hx-sse.min.js",
    "vendor/htmx/hx-csp.min.js",
)
"""Scripts of the page that speak with a server. shared-file.js does their work from the file."""
_SCRIPT = re.compile(r'<script\b([^>]*?)\ssrc="/static/([^"]+)"[^>]*></script>\n?')
_STYLE = re.compile(r'<link rel="stylesheet" href="/static/([^"]+)">\n?')
_ICON = re.compile(r'(<link rel="icon" href=")/static/([^"]+)"')
_IMPORT = re.compile(r'^import \{ ([\w, ]+) \} from "\./([\w.-]+)";$', re.MULTILINE)
_LATER = re.compile(r'import\("\./([\w.-]+)"\)')
"""A module that a page fetches when somebody needs it. A file holds it from the start."""
_EXPORT = re.compile(r"^export (?=(?:async )?(?:const|let|class|function)\b)", re.MULTILINE)
_EXPORTED = re.compile(r"^export (?:async )?(?:const|let|class|function) (\w+)", re.MULTILINE)
POLICY = (
    "default-src 'none'; script-src {scripts}; style-src {styles}; img-src data:; base-uri 'none'; form-action 'none'"
)
PLACE = "<!-- the policy -->"
"""Where the page has room for its policy: before anything that the policy is about."""


def inline_assets(page: str) -> str:
    """Return the page with its scripts, styles and icon inside. Only its head may refer to them."""
    head, body_tag, body = page.partition("<body")
    used = [(kind, file) for kind, file in _SCRIPT.findall(head) if file not in SERVED_ONLY]
    scripts = [_read_script_attributes_and_text(file, module="module" in kind) for kind, file in used]
    style = "".join((STATIC / file).read_text() for file in _STYLE.findall(head))
    head = _ICON.sub(_inline_icon, _STYLE.sub("", _SCRIPT.sub("", head)))
    policy = POLICY.format(
        scripts=" ".join(map(_hash_source, [text for _, text in scripts])), styles=_hash_source(style)
    )
    head = head.replace(PLACE, f'<meta http-equiv="Content-Security-Policy" content="{policy}">', 1)
    head = head.replace("</head>", f"<style>{style}</style>\n</head>", 1)
    # A script inside the page cannot be deferred, so all stand at its end.
    end = "".join(f"<script{kind}>{text}</script>\n" for kind, text in scripts)
    before, _, after = body.rpartition("</body>")
    return f"{head}{body_tag}{before}{end}</body>{after}"


def _read_script_attributes_and_text(file: str, *, module: bool) -> tuple[str, str]:
    """Return the attributes and the text of a script element."""
    text = bundle_module(file, set()) if module else (STATIC / file).read_text()
    return (' type="module"' if module else "", text.replace("</script", "<\\/script"))


def bundle_module(file: str, bundled: set[str]) -> str:
    """Return a module after the modules that it imports, each in a scope of its own that hands out what it exports."""
    text, before = (STATIC / file).read_text(), ""
    for other in (*(other for _, other in _IMPORT.findall(text)), *_LATER.findall(text)):
        if other not in bundled:
            bundled.add(other)
            before += bundle_module(other, bundled)
    names = ", ".join(_EXPORTED.findall(text))
    imports = "".join(f"const {{ {used} }} = {_name_module(other)};\n" for used, other in _IMPORT.findall(text))
    plain = _EXPORT.sub("", _IMPORT.sub("", text))
    plain = _LATER.sub(lambda found: f"Promise.resolve({_name_module(found[1])})", plain)
    return f"{before}const {_name_module(file)} = (() => {{\n{imports}{plain}\nreturn {{ {names} }};\n}})();\n"


def _name_module(file: str) -> str:
    return "module_" + re.sub(r"\W", "_", file)


def _inline_icon(icon_match: re.Match[str]) -> str:
    content = base64.b64encode((STATIC / icon_match[2]).read_bytes()).decode()
    return f'{icon_match[1]}data:image/svg+xml;base64,{content}"'


def _hash_source(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"

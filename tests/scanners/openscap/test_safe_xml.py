import pytest

from app.errors import BadInput
from app.scanners.openscap.safe_xml import MOST, parse_xml

LAUGHS = "".join(f'<!ENTITY a{n} "' + f"&a{n - 1};" * 10 + '">' for n in range(1, 12))


@pytest.mark.parametrize(
    "document",
    [
        '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>',
        '<!DOCTYPE a SYSTEM "http://127.0.0.1:9/a.dtd"><a/>',
        f'<!DOCTYPE a [<!ENTITY a0 "ha">{LAUGHS}]><a>&a11;</a>',
    ],
    ids=["file", "network", "laughs"],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_document_type_is_refused_in_any_encoding(document, encoding):
    with pytest.raises(BadInput, match=r"^The report (declares|is not well-formed)"):
        parse_xml(document.encode(encoding), "The report")


def test_too_much_is_refused_before_it_is_read():
    with pytest.raises(BadInput, match="more than 96 MiB"):
        parse_xml(b" " * (MOST + 1), "The report")


def test_too_deep_is_refused():
    with pytest.raises(BadInput, match="not well-formed"):
        parse_xml(b"<a>" * 100_000 + b"</a>" * 100_000, "The report")

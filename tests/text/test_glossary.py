"""The words that pages explain are the words of the one list."""

import re
from pathlib import Path

from app.config import PACKAGE
from app.text.glossary import load_glossary

USED = re.compile(r'term\("([^"]+)"')


def test_every_word_that_a_template_explains_is_in_the_glossary():
    used = {word for file in Path(PACKAGE / "templates").rglob("*.html") for word in USED.findall(file.read_text())}
    assert used
    assert used <= set(load_glossary())


def test_each_word_is_explained_in_whole_sentences():
    assert all(says.endswith(".") for says in load_glossary().values())

from app.syntax import crypto


def test_the_first_line_of_a_keyword_counts():
    text = "# Ciphers none\nciphers a,b\nCiphers c\n"
    found = crypto.find_algorithms(text, "Ciphers")
    assert (found.value, found.path, found.line) == ("a,b", crypto.BACKEND, 2)
    assert crypto.find_algorithms(text, "MACs") is None

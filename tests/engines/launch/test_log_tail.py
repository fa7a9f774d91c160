"""A log that grows while it is read."""

from app.engines.launch.log_tail import LogTail


def test_a_line_counts_when_it_is_whole_or_its_writer_has_ended(tmp_path):
    log, tail = tmp_path / "e.log", LogTail(tmp_path / "e.log")
    assert tail.read_new_lines() == []
    log.write_bytes(b"one\ntw")
    assert tail.read_new_lines() == ["one"]
    log.write_bytes(b"one\ntwo\nfatal")
    assert tail.read_new_lines() == ["two"]
    assert [tail.read_new_lines(ended=True) for _ in range(2)] == [["fatal"], []]

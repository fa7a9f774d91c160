from app.web.stream.fanout import Frame, FrameRing


def ring(**limits):
    made = FrameRing(**limits)
    for frame in (Frame(1, 3, b"abc"), Frame(4, 4, b"d"), Frame(5, 6, b"ef")):
        made.append(frame)
    return made


def test_what_follows_a_seq_is_joined():
    assert [ring().read_after(seq) for seq in (0, 3, 4, 6)] == [b"abcdef", b"def", b"ef", b""]


def test_a_seq_inside_a_frame_or_out_of_reach_is_not_answered():
    assert [ring().read_after(seq) for seq in (1, 5, 9)] == [None, None, None]


def test_it_forgets_the_oldest_by_count_and_by_size():
    assert [ring(frames=2).read_after(seq) for seq in (0, 3)] == [None, b"def"]
    assert [ring(size=3).read_after(seq) for seq in (0, 3)] == [None, b"def"]

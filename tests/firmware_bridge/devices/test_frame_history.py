from firmware_bridge.devices.frame_history import MINUTE_MS, MOST_BYTES, NAMES_TOLD, FrameHistory


def lengths(pieces: object) -> list[str]:
    return [f"{'<' if to_host else '>'}{len(data)}" for to_host, data in pieces]  # type: ignore[attr-defined]


class Clock:
    now_ms = 0

    def __call__(self) -> int:
        return self.now_ms


def test_f22_the_last_minute_is_kept_and_no_more() -> None:
    clock = Clock()
    trace = FrameHistory(clock)
    trace.opened(b"")
    for number in range(1, 4):
        trace.passed(to_host=bool(number % 2), data=bytes(number))
        clock.now_ms += MINUTE_MS // 2
    assert trace.last_names(lengths) == ["<1", ">2", "<3"]
    trace.passed(to_host=False, data=bytes(4))
    assert trace.last_names(lengths) == [">2", "<3", ">4"]


def test_it_does_not_grow_beyond_its_bytes() -> None:
    trace = FrameHistory(Clock())
    trace.opened(b"")
    for _ in range(NAMES_TOLD):
        trace.passed(to_host=True, data=bytes(MOST_BYTES // 4))
    assert trace.last_names(lengths) == [f"<{MOST_BYTES // 4}"] * 4


def test_only_the_last_frames_of_the_present_connection_are_told() -> None:
    trace = FrameHistory(Clock())
    trace.opened(b"")
    trace.passed(to_host=True, data=b"of the connection before")
    trace.opened(b"")
    assert trace.last_names(lengths) == []
    for number in range(100):
        trace.passed(to_host=True, data=bytes(number))
    assert trace.last_names(lengths) == [f"<{number}" for number in range(100 - NAMES_TOLD, 100)]

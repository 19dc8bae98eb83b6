"""The specification's vectors of pairing, session keys and sealed frames, and the file that carries all vectors."""

from importlib.resources import files

import pytest

from drivers.driver import DeviceKind
from drivers.framing import FrameDecoder
from drivers.tdp.codec.header import Header
from drivers.tdp.codec.messages import read_message, wire_frame
from drivers.tdp.codec.session_messages import Hello
from drivers.tdp.host.auth import Seal, SealReader, key_id, session_keys
from drivers.tdp.host.driver import TdpDriver
from tests.drivers.tdp.vectors import BadVector, as_json, bad_vectors, described, good_vectors, key_vectors

KEYS = key_vectors()
AUTHENTICATED = good_vectors("tdp-authenticated")


def test_session_keys() -> None:
    assert key_id(KEYS.pairing_key) == KEYS.key_id
    keys = session_keys(KEYS.pairing_key, nonce=KEYS.nonce, device_nonce=KEYS.device_nonce, boot=KEYS.boot)
    assert keys == (KEYS.host_session_key, KEYS.device_session_key)


def test_sealed_frames_are_read_and_written() -> None:
    directions = {True: KEYS.device_session_key, False: KEYS.host_session_key}
    readers = {to_host: SealReader(key) for to_host, key in directions.items()}
    for vector in AUTHENTICATED:
        (body,) = FrameDecoder().feed(b"\x00" + vector.wire)
        header = Header.from_bytes(body)
        assert header.authenticated is (vector.counter is not None)
        seal = None
        if vector.counter is not None:
            body = readers[header.to_host].open(header, body)
            seal = Seal(directions[header.to_host])
            for _ in range(vector.counter - 1):
                seal(b"")
        message, extra = read_message(header, body)
        assert extra == 0
        assert described(message) == vector.message
        written = wire_frame(
            message,
            session=vector.session,
            sequence=vector.sequence,
            acknowledgement=vector.acknowledgement,
            seal=seal,
        )
        assert written == vector.wire


def greeted() -> TdpDriver:
    driver = TdpDriver(DeviceKind.SHUFFLER, None)
    hello, answer, start = AUTHENTICATED[:3]
    said = driver.opened(nonce=KEYS.nonce, key=KEYS.pairing_key, resume=None, now_ms=0).to_send
    assert said == b"\x00" + hello.wire
    assert driver.receive(b"\x00" + answer.wire, 4).to_send == b"\x00" + start.wire
    return driver


@pytest.mark.parametrize("vector", bad_vectors("tdp-authenticated-bad"), ids=lambda vector: vector.name)
def test_what_an_authenticated_session_throws_away_is_counted_and_is_nothing(vector: BadVector) -> None:
    driver = greeted()
    before = driver.counters.get(vector.why, 0)
    assert driver.receive(vector.wire, 5).to_send == b""
    assert driver.counters.get(vector.why, 0) == before + 1
    assert driver.counters.get("bad_messages", 0) == 0


def test_the_answer_begins_with_the_hello_of_the_key() -> None:
    hello = AUTHENTICATED[0]
    assert hello.message["message"] == Hello.TYPE.name
    assert hello.message["key_id"] == KEYS.key_id


def test_the_vectors_are_shipped_as_json_too() -> None:
    """Written anew by `python -m tests.drivers.tdp.vectors`."""
    assert (files("drivers.tdp") / "vectors.json").read_text(encoding="utf-8") == as_json()

from drivers.framing import DELIMITER, FrameDecoder
from drivers.tdp.codec.command_messages import Ping
from drivers.tdp.codec.fact_messages import Ack, Durable
from drivers.tdp.codec.header import HEADER_SIZE, Header
from drivers.tdp.codec.messages import Message, read_message
from drivers.tdp.codec.session_messages import Hello
from drivers.tdp.host.auth import KEY_SIZE, TRAILER_SIZE, Seal, SealReader
from drivers.tdp.host.outgoing import Outgoing


def read(data: bytes) -> list[tuple[Header, Message]]:
    headers = [(Header.from_bytes(body), body) for body in FrameDecoder().feed(data)]
    return [(header, read_message(header, body)[0]) for header, body in headers]


def test_nothing_to_say_is_no_byte() -> None:
    assert Outgoing().frames(0) == b""


def test_messages_go_in_order_behind_one_delimiter_and_are_numbered() -> None:
    outgoing = Outgoing()
    outgoing.begin(7, None)
    outgoing.put(Durable(number=5))
    outgoing.put(Ping(id=1))
    data = outgoing.frames(40)
    assert data.startswith(DELIMITER)
    (first, durable), (second, ping) = read(data)
    assert (durable, ping) == (Durable(number=5), Ping(id=1))
    assert [(header.session, header.sequence, header.acknowledgement) for header in (first, second)] == [
        (7, 0, 40),
        (7, 1, 40),
    ]
    assert outgoing.frames(40) == b""


def test_sequence_numbers_wrap() -> None:
    outgoing = Outgoing()
    outgoing.begin(7, None)
    for _ in range(2**16 + 1):
        outgoing.put(Ack())
        last = outgoing.frames(0)
    assert read(last)[0][0].sequence == 0


def test_a_hello_has_no_session_and_takes_no_number() -> None:
    outgoing = Outgoing()
    outgoing.begin(7, None)
    outgoing.put(Hello(nonce=bytes(8)))
    outgoing.put(Ack())
    (hello, _), (ack, _) = read(outgoing.frames(3))
    assert (hello.session, hello.sequence, hello.acknowledgement) == (0, 0, 0)
    assert (ack.session, ack.sequence, ack.acknowledgement) == (7, 0, 3)


def test_an_ack_is_sent_where_nothing_else_is_and_once() -> None:
    outgoing = Outgoing()
    outgoing.begin(7, None)
    outgoing.acknowledge()
    assert [message for _, message in read(outgoing.frames(3))] == [Ack()]
    assert outgoing.frames(3) == b""
    outgoing.acknowledge()
    outgoing.put(Ping(id=1))
    assert [message for _, message in read(outgoing.frames(4))] == [Ping(id=1)]
    assert outgoing.frames(4) == b""


def test_what_waits_is_dropped_with_the_connection() -> None:
    outgoing = Outgoing()
    outgoing.put(Ping(id=1))
    outgoing.acknowledge()
    outgoing.clear()
    assert outgoing.frames(0) == b""


def test_frames_of_an_authenticated_session_are_sealed_and_a_hello_is_not() -> None:
    key = bytes(KEY_SIZE)
    outgoing = Outgoing()
    outgoing.put(Hello(nonce=bytes(8)))
    outgoing.begin(7, Seal(key))
    outgoing.put(Durable(number=5))
    hello, durable = FrameDecoder().feed(outgoing.frames(0))
    assert not Header.from_bytes(hello).authenticated
    header = Header.from_bytes(durable)
    assert header.authenticated
    opened = SealReader(key).open(header, durable)
    assert len(durable) - len(opened) == TRAILER_SIZE
    assert opened[HEADER_SIZE:] == Durable(number=5).to_bytes()

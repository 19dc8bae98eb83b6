"""What a HELLO_ANSWER comes to. What a whole driver makes of it stands in test_driver.py and test_sentences.py."""

from collections import Counter
from dataclasses import replace

import pytest

from drivers.driver import DeviceKind, Resume
from drivers.tdp.codec.enums import Capability
from drivers.tdp.codec.header import Header
from drivers.tdp.codec.session_messages import HelloAnswer
from drivers.tdp.host.auth import KEY_SIZE, Seal, key_id, session_keys
from drivers.tdp.host.handshake import AnswerDropped, AnswerRefused, Handshake, no_session

NONCE = b"n" * 8
BOOT = b"b" * 8
KEY = bytes(KEY_SIZE)
ANSWER = HelloAnswer(
    nonce=NONCE,
    attempt=0,
    boot=BOOT,
    clock_ms=5,
    kind=2,
    capabilities=Capability.READS_CARDS,
    decks=1,
    ring_size=64,
    first_sequence=9,
    vendor="Acme",
    model="S1",
    serial_number="0042",
    firmware_version="1.2",
)


def begun(key: bytes | None = None, resume: Resume | None = None, hellos: int = 1) -> Handshake:
    handshake = Handshake(DeviceKind.SHOE, "0042", Counter())
    handshake.begin(NONCE, key, resume)
    for attempt in range(hellos):
        handshake.hello(100 * attempt)
    return handshake


def answered(answer: HelloAnswer, sealed_with: bytes | None = None, extra: bytes = b"") -> tuple[Header, bytes]:
    header = Header(
        to_host=True, message_type=HelloAnswer.TYPE, session=0, sequence=0, authenticated=sealed_with is not None
    )
    body = header.to_bytes() + answer.to_bytes() + extra
    if sealed_with is not None:
        _, to_host = session_keys(sealed_with, nonce=NONCE, device_nonce=answer.device_nonce, boot=answer.boot)
        body = Seal(to_host)(body)
    return header, body


def test_hellos_bear_the_nonce_and_count_their_attempts() -> None:
    counts: Counter[str] = Counter()
    handshake = Handshake(DeviceKind.SHOE, None, counts)
    handshake.begin(NONCE, KEY, None)
    hellos = [handshake.hello(now_ms) for now_ms in (0, 1000, 2000)]
    assert [(hello.nonce, hello.attempt, hello.key_id) for hello in hellos] == [
        (NONCE, attempt, key_id(KEY)) for attempt in range(3)
    ]
    assert counts == {"hellos_sent_again": 2}


def test_an_answer_is_timed_by_the_hello_that_it_answers() -> None:
    handshake = begun(hellos=3)
    found = handshake.accept(*answered(replace(ANSWER, attempt=1), extra=b"later"))
    assert (found.answer.attempt, found.extra, found.seal, found.reader) == (1, 5, None, None)
    assert handshake.answer == found.answer
    assert handshake.sent_ms(found.answer) == 100


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"nonce": b"x" * 8}, "other_session"),
        ({"attempt": 1}, "other_session"),
    ],
)
def test_an_answer_to_another_hello_is_nothing(change: dict[str, object], reason: str) -> None:
    with pytest.raises(AnswerDropped) as dropped:
        begun().accept(*answered(replace(ANSWER, **change)))  # type: ignore[arg-type]
    assert dropped.value.reason == reason


def test_a_damaged_answer_is_nothing_and_one_of_another_major_is_refused() -> None:
    header, body = answered(ANSWER)
    with pytest.raises(AnswerDropped) as dropped:
        begun().accept(header, body[:60])
    assert dropped.value.reason == "bad_messages"
    with pytest.raises(AnswerRefused, match=r"speaks TDP 3\.0 down to 2, this host speaks TDP 1\.0"):
        begun().accept(*answered(replace(ANSWER, lowest_major=2, highest_major=3)))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"serial_number": "0043"}, "of another serial number"),
        ({"kind": 1}, "leads to a shuffler"),
        ({"capabilities": Capability.REFUSES_PLAIN}, "takes authenticated sessions only: pair it"),
    ],
)
def test_a_plain_session_is_refused_with_a_sentence(change: dict[str, object], says: str) -> None:
    with pytest.raises(AnswerRefused, match=says):
        begun().accept(*answered(replace(ANSWER, **change)))  # type: ignore[arg-type]


AUTHENTICATED = replace(
    ANSWER, capabilities=Capability.OFFERS_AUTHENTICATION, key_id=key_id(KEY), device_nonce=b"d" * 8
)


def test_a_device_that_holds_the_key_opens_both_directions() -> None:
    found = begun(KEY).accept(*answered(AUTHENTICATED, KEY))
    assert found.seal is not None
    assert found.reader is not None


@pytest.mark.parametrize(
    ("answer", "sealed_with", "says"),
    [
        (ANSWER, None, "does not offer authenticated mode"),
        (AUTHENTICATED, None, "does not hold the key that is configured"),
        (replace(AUTHENTICATED, key_id=1), KEY, "does not hold the key that is configured"),
        (AUTHENTICATED, b"x" * KEY_SIZE, "cannot prove that it holds it"),
    ],
)
def test_whoever_cannot_prove_the_key_is_refused(answer: HelloAnswer, sealed_with: bytes | None, says: str) -> None:
    with pytest.raises(AnswerRefused, match=says):
        begun(KEY).accept(*answered(answer, sealed_with))


def test_a_sealed_answer_to_a_plain_hello_is_nothing() -> None:
    with pytest.raises(AnswerDropped) as dropped:
        begun().accept(*answered(AUTHENTICATED, KEY))
    assert dropped.value.reason == "unexpected_authentication"


@pytest.mark.parametrize(
    ("resume", "point"),
    [
        (None, None),
        (Resume(BOOT.hex(), 7), (BOOT, 7)),
        (Resume(BOOT.hex(), 2**32 - 1), (BOOT, 2**32 - 1)),
        (Resume(BOOT.hex(), 2**32), None),
        (Resume(BOOT.hex(), -1), None),
        (Resume("no boot id", 7), None),
        (Resume(BOOT.hex() + "\n", 7), None),
    ],
)
def test_a_start_names_the_last_stored_fact_where_that_can_be_this_devices(
    resume: Resume | None, point: tuple[bytes, int] | None
) -> None:
    counts: Counter[str] = Counter()
    handshake = Handshake(DeviceKind.SHOE, None, counts)
    handshake.begin(NONCE, None, resume)
    assert handshake.start().resume == handshake.start().resume == handshake.resume == point
    assert counts == {"starts_sent_again": 1}


@pytest.mark.parametrize(
    ("resume", "resumes", "lost"),
    [
        (None, False, False),
        (Resume(BOOT.hex(), 7), True, False),
        (Resume((b"x" * 8).hex(), 7), False, True),
        (Resume("other protocol", 7), False, True),
    ],
)
def test_a_device_that_was_known_and_has_another_boot_id_has_lost_what_it_had(
    resume: Resume | None,
    resumes: bool,  # noqa: FBT001
    lost: bool,  # noqa: FBT001
) -> None:
    handshake = begun(resume=resume)
    assert not handshake.resumes
    handshake.accept(*answered(ANSWER))
    assert (handshake.resumes, handshake.lost_history) == (resumes, lost)


@pytest.mark.parametrize(
    ("answered", "bytes_heard", "counts", "says"),
    [
        (True, 900, {}, "answered but began no session"),
        (False, 0, {}, "Silence: nothing came from the shoe"),
        (False, 9, {"frames_from_device": 1, "own_echo": 1}, "sends frames but answers no hello"),
        (False, 9, {"own_echo": 1}, "Only this host's own bytes came back"),
        (False, 9, {}, "Junk instead of frames"),
    ],
)
def test_a_handshake_that_came_to_nothing_says_what_was_heard(
    answered: bool,  # noqa: FBT001
    bytes_heard: int,
    counts: dict[str, int],
    says: str,
) -> None:
    sentence = no_session(DeviceKind.SHOE, answered=answered, bytes_heard=bytes_heard, counts=Counter(counts))
    assert says in sentence
    assert "within 10 s" in sentence

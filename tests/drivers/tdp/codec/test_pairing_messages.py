"""The bytes of the pairing messages, types 10 to 16 (drivers/tdp/spec.md section 9.4)."""

import pytest

from drivers.tdp.codec import pairing_messages as pairing
from drivers.tdp.codec.enums import StopReason
from drivers.tdp.codec.fields import BadMessage, FieldReader

KEY = bytes(range(32))
PROOF = bytes(range(16))
MESSAGES = [
    (0x10, pairing.PairCommit(commitment=KEY), KEY),
    (0x11, pairing.PairKey(device_public=KEY), KEY),
    (0x12, pairing.PairReveal(host_public=KEY), KEY),
    (0x13, pairing.PairConfirm(confirmation=PROOF), PROOF),
    (0x14, pairing.PairDone(confirmation=PROOF), PROOF),
    (0x15, pairing.PairStop(), b""),
    (0x16, pairing.PairStopped(reason=StopReason.DECLINED), b"\x04"),
]


@pytest.mark.parametrize(("code", "message", "payload"), MESSAGES, ids=lambda value: type(value).__name__)
def test_type_and_payload(code: int, message: pairing.ToDevice | pairing.ToHost, payload: bytes) -> None:
    assert code == message.TYPE
    assert not message.SEQUENCED
    assert message.to_bytes() == payload
    assert type(message).read(FieldReader(payload)) == message


@pytest.mark.parametrize(("code", "message", "payload"), MESSAGES, ids=lambda value: type(value).__name__)
def test_cut_short_it_is_no_message(code: int, message: pairing.ToDevice | pairing.ToHost, payload: bytes) -> None:
    if payload:
        with pytest.raises(BadMessage):
            type(message).read(FieldReader(payload[:-1]))


def test_each_goes_one_way_alone() -> None:
    sent, heard = set(pairing.TO_DEVICE), set(pairing.TO_HOST)
    assert sent.isdisjoint(heard)
    assert sent | heard == {type(message) for _, message, _ in MESSAGES}


def test_a_reason_to_stop_that_is_not_known_is_refused() -> None:
    with pytest.raises(BadMessage):
        pairing.PairStopped.read(FieldReader(b"\x06"))

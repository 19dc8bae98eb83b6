from dataclasses import replace

import pytest

from drivers.driver import DeviceKind
from drivers.tdp.codec.session_messages import HelloAnswer
from drivers.tdp.host.identity import claims_of, kind_name, named, version_refusal, wrong_device

SHOE = HelloAnswer(
    nonce=bytes(8),
    attempt=0,
    boot=bytes(8),
    clock_ms=0,
    kind=2,
    capabilities=1,
    decks=1,
    ring_size=64,
    first_sequence=0,
    firmware_hash=bytes(range(32)),
    vendor="Acme",
    model="S1",
    serial_number="0042",
    firmware_version="1.2",
)


def test_claims_are_the_answers_words_made_fit_to_print() -> None:
    claims = claims_of(replace(SHOE, vendor="A\x1b[2Jcme", highest_major=1, minor=7))
    assert (claims.kind, claims.vendor, claims.model, claims.serial_number) == ("shoe", "A?[2Jcme", "S1", "0042")
    assert (claims.firmware_version, claims.protocol) == ("1.2", "TDP 1.7")
    assert claims.firmware_hash == bytes(range(32)).hex()


def test_a_hash_of_zeros_is_none() -> None:
    assert claims_of(replace(SHOE, firmware_hash=bytes(32))).firmware_hash == ""


@pytest.mark.parametrize(("code", "name"), [(1, "shuffler"), (3, "layout"), (9, "device of unknown kind 9")])
def test_every_kind_has_a_name(code: int, name: str) -> None:
    assert kind_name(code) == name


def test_a_device_is_named_by_kind_model_and_serial_number() -> None:
    assert named(SHOE) == "shoe (Acme S1, serial number 0042)"


@pytest.mark.parametrize(
    ("kind", "serial_number", "says"),
    [
        (DeviceKind.SHOE, None, None),
        (DeviceKind.SHOE, "0042", None),
        (DeviceKind.SHOE, "42", "leads to a shoe of another serial number (Acme S1, serial number 0042) where 42 is"),
        (DeviceKind.SHUFFLER, "0042", "leads to a shoe (Acme S1, serial number 0042) where a shuffler is configured"),
    ],
)
def test_the_wrong_device_is_told_by_kind_and_then_by_number(
    kind: DeviceKind, serial_number: str | None, says: str | None
) -> None:
    refused = wrong_device(SHOE, kind, serial_number)
    assert (refused is None) if says is None else (refused is not None and says in refused)


@pytest.mark.parametrize(
    ("lowest", "highest", "says"),
    [
        (1, 1, None),
        (0, 3, None),
        (2, 2, "The shoe 0042 speaks TDP 2.5, this host speaks TDP 1.0: update the older of the two."),
        (2, 4, "The shoe 0042 speaks TDP 4.5 down to 2, this host speaks TDP 1.0: update the older of the two."),
        (0, 0, "The shoe 0042 speaks TDP 0.5, this host speaks TDP 1.0: update the older of the two."),
    ],
)
def test_both_versions_are_named_where_none_is_shared(lowest: int, highest: int, says: str | None) -> None:
    assert version_refusal(2, "0042", lowest, highest, 5) == says


def test_a_device_of_another_version_may_have_said_no_serial_number() -> None:
    refused = version_refusal(7, "", 2, 2, 0)
    assert refused is not None
    assert refused.startswith("The device of unknown kind 7 speaks TDP 2.0,")

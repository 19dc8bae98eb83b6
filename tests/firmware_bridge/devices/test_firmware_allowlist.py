from typing import Any

import msgspec
import pytest

from firmware_bridge.config import ApprovedFirmware
from firmware_bridge.devices.firmware_allowlist import firmware_refusal
from tests.firmware_bridge.devices.ends.claims import CLAIMS

OURS = ApprovedFirmware(model="Model", version="1.0", hash="00")
OTHER = ApprovedFirmware(model="Model", version="2.0", hash="aa")


@pytest.mark.parametrize(
    "approved",
    [(), (OURS,), (OTHER, OURS)],
)
def test_approved_firmware_passes_and_without_a_list_any(approved: tuple[ApprovedFirmware, ...]) -> None:
    assert firmware_refusal(CLAIMS, approved) is None


def test_digits_of_a_hash_may_be_written_large() -> None:
    claims = msgspec.structs.replace(CLAIMS, firmware_hash="ab12")
    assert firmware_refusal(claims, [ApprovedFirmware(model="Model", version="1.0", hash="AB12")]) is None


@pytest.mark.parametrize("change", [{"model": "Model 2"}, {"firmware_version": "1.0.1"}, {"firmware_hash": "01"}])
def test_anything_else_is_refused_with_what_is_approved(change: dict[str, Any]) -> None:
    claims = msgspec.structs.replace(CLAIMS, **change)
    sentence = firmware_refusal(claims, [OURS, OTHER]) or ""
    assert f"runs firmware {claims.firmware_version} (hash {claims.firmware_hash}), which is not on" in sentence
    told = (
        "no firmware is approved for this model"
        if "model" in change
        else "for this model: 1.0 (hash 00), 2.0 (hash aa)"
    )
    assert told in sentence
    assert "[[approved]]" in sentence


def test_a_device_that_tells_no_hash_needs_an_entry_without_one() -> None:
    claims = msgspec.structs.replace(CLAIMS, firmware_hash="")
    assert "(no hash)" in (firmware_refusal(claims, [OURS]) or "")
    assert firmware_refusal(claims, [ApprovedFirmware(model="Model", version="1.0", hash="")]) is None


def test_a_device_that_tells_no_version_can_be_approved() -> None:
    claims = msgspec.structs.replace(CLAIMS, firmware_version="", firmware_hash="")
    assert "runs firmware without a version (no hash), which" in (firmware_refusal(claims, [OURS]) or "")
    approved = msgspec.convert({"model": "Model", "version": "", "hash": ""}, ApprovedFirmware)
    assert firmware_refusal(claims, [OURS, approved]) is None


def test_a_device_that_tells_no_serial_number_is_refused_without_one() -> None:
    claims = msgspec.structs.replace(CLAIMS, serial_number="")
    another = msgspec.structs.replace(OURS, model="Another")
    assert "Model, which tells no serial number, runs firmware" in (firmware_refusal(claims, [another]) or "")

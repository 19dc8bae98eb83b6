from pathlib import Path

import pytest

from firmware_bridge.doctor.findings import Health
from firmware_bridge.doctor.unit import Unit
from firmware_bridge.secret_files import KeyFileError
from tests.firmware_bridge.doctor.table_pc import TablePc


def test_a_configuration_that_cannot_be_used_leaves_the_rest_to_be_looked_at(pc: TablePc) -> None:
    pc.write("/etc/firmware-bridge/table.toml", "[tabel]\n")
    told = {finding.check: finding for finding in pc.bad()}
    assert told["configuration"].health is Health.WRONG
    assert told["house"].health is Health.UNKNOWN
    assert any(finding.check == "udev rules" and finding.health is Health.OK for finding in pc.findings())


def test_a_driver_that_is_not_there(pc: TablePc) -> None:
    file = pc.at("/etc/firmware-bridge/table.toml")
    file.write_text(file.read_text().replace('driver = "tdp"', 'driver = "tpd"', 1))
    finding = pc.only("configuration")
    assert "the device shuffler" in finding.sentence


def test_a_house_that_does_not_offer_what_the_table_wants(pc: TablePc) -> None:
    file = pc.at("/etc/firmware-bridge/table.toml")
    file.write_text(file.read_text().replace('deal = "group"', 'deal = "group"\ndecks = 6'))
    assert pc.only("house").health is Health.WRONG


def test_a_key_that_is_missing_is_named_by_the_file_to_make(pc: TablePc) -> None:
    pc.at("/etc/firmware-bridge/table.key").unlink()
    finding = pc.only("keys")
    assert finding.health is Health.WRONG
    assert "is not at /etc/firmware-bridge/table.key" in finding.sentence


@pytest.mark.parametrize(
    ("text", "mode", "words"),
    [("5a" * 32, 0o640, "chmod 600 /etc/firmware-bridge/table.key"), ("5a", 0o600, "does not hold 64 hex digits")],
)
def test_a_key_that_is_open_or_damaged(pc: TablePc, text: str, mode: int, words: str) -> None:
    pc.write("/etc/firmware-bridge/table.key", text, mode)
    finding = pc.only("keys")
    assert words in finding.sentence
    assert str(pc.root) not in finding.sentence


def test_a_key_that_only_root_may_read(pc: TablePc, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its folder shows it to whoever looks for the technician's own account."""

    def refuse(file: Path) -> None:
        raise KeyFileError from PermissionError(13, str(file))

    monkeypatch.setattr("firmware_bridge.doctor.settings.read_keys", refuse)
    finding = pc.only("keys")
    assert finding.health is Health.UNKNOWN
    assert finding.sentence.endswith("by root alone: run this as root.")


def test_keys_of_paired_devices_are_found_in_their_folder() -> None:
    unit = Unit(None, "u", "g", (), {"device-keys": "/etc/firmware-bridge/device-keys"})
    given = Path("/run/credentials/firmware-bridge.service/device-keys_shoe.key")
    assert unit.source_of(given) == Path("/etc/firmware-bridge/device-keys/shoe.key")
    assert unit.source_of(Path("/srv/shoe.key")) is None

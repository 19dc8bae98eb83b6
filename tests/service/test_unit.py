"""What the unit promises, line by line; that systemd keeps it is shown in test_service.py."""

import re
from pathlib import Path

import pytest

from firmware_bridge.daemon.daemon import LONGEST_RETRY_S, STOP_DEADLINE_S
from firmware_bridge.daemon.systemd import SIGNS_PER_LIMIT
from firmware_bridge.devices.connection import CLOSE_TIMEOUT_S

UNIT = Path(__file__).resolve().parents[2] / "udev/firmware-bridge.service"


@pytest.fixture(scope="module")
def unit() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, value in re.findall(r"^(\w+)=(.*)$", UNIT.read_text(), re.MULTILINE):
        found.setdefault(name, []).append(value)
    return found


def seconds(setting: list[str]) -> int:
    number, unit = re.fullmatch(r"(\d+)(s|min)", setting[-1]).groups()  # type: ignore[union-attr]
    return int(number) * (60 if unit == "min" else 1)


def test_f47_serial_lines_and_usb_are_let_through_and_nothing_else(unit: dict[str, list[str]]) -> None:
    """Device classes are looked up at the start: their drivers are loaded before."""
    assert unit["DevicePolicy"] == ["closed"]
    assert set(unit["DeviceAllow"]) == {"char-ttyUSB rw", "char-ttyACM rw", "char-usb_device rw"}
    assert "PrivateDevices" not in unit
    for module in ("usbcore", "usbserial", "cdc_acm"):
        assert f"modprobe@{module}.service" in unit["Wants"][0]
        assert f"modprobe@{module}.service" in unit["After"][0]


def test_f48_it_hears_of_hotplug(unit: dict[str, list[str]]) -> None:
    assert set(unit["RestrictAddressFamilies"][0].split()) == {"AF_UNIX", "AF_NETLINK", "AF_INET", "AF_INET6"}
    assert "PrivateNetwork" not in unit


def test_f49_it_is_tied_to_no_device(unit: dict[str, list[str]]) -> None:
    assert not {"BindsTo", "BindTo", "Requires", "PartOf", "StopWhenUnneeded"} & set(unit)
    assert not any(".device" in value for values in unit.values() for value in values)
    assert unit["WantedBy"] == ["multi-user.target"]
    assert unit["Restart"] == ["always"]
    assert unit["StartLimitIntervalSec"] == ["0"]


def test_f50_several_signs_of_life_fit_into_what_systemd_waits(unit: dict[str, list[str]]) -> None:
    """Even while a journal that takes no writes is tried again at its slowest."""
    assert unit["Type"] == ["notify"]
    assert seconds(unit["WatchdogSec"]) > LONGEST_RETRY_S + 2 * seconds(unit["WatchdogSec"]) / SIGNS_PER_LIMIT


def test_f52_it_is_given_more_time_to_stop_than_it_takes(unit: dict[str, list[str]]) -> None:
    assert seconds(unit["TimeoutStopSec"]) > STOP_DEADLINE_S + CLOSE_TIMEOUT_S


def test_f53_a_storm_of_lines_is_cut_for_this_unit_alone(unit: dict[str, list[str]]) -> None:
    assert int(unit["LogRateLimitBurst"][0]) >= 1000
    assert seconds(unit["LogRateLimitIntervalSec"]) > 0


def test_memory_with_keys_and_cards_is_never_written_to_a_disk(unit: dict[str, list[str]]) -> None:
    assert unit["LimitCORE"] == ["0"]
    assert unit["MemorySwapMax"] == ["0"]


def test_a_configuration_that_cannot_be_used_is_not_tried_again(unit: dict[str, list[str]]) -> None:
    assert unit["RestartPreventExitStatus"] == ["2"]

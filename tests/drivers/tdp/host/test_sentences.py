"""Whoever is on the other end, or nobody: what a person is told."""

import pytest

from drivers.driver import DeviceKind, LinkDown
from drivers.tdp.codec.enums import Capability
from drivers.tdp.host.driver import TdpDriver
from tests.drivers.tdp.device import ModelDevice
from tests.drivers.tdp.link import Faults, Link


def sentence(link: Link) -> LinkDown:
    link.run(10_100)
    (down,) = link.downs()
    assert link.reports[-1] is down
    assert down.reason.endswith(".")
    return down


def test_silence_and_junk_are_told_apart() -> None:
    silent = sentence(Link(ModelDevice(), faults=Faults(loss=1.0)))
    assert silent.reason.startswith("Silence")
    junk = Link(ModelDevice(), faults=Faults(loss=1.0))
    junk.faults = Faults()
    junk.to_host(b"OK\r\n" * 400)
    junk.faults = Faults(loss=1.0)
    told = sentence(junk)
    assert told.reason.startswith("Junk instead of frames: bytes came within 10 s and no frame")
    assert "1600" not in told.reason  # the same at each try, so that it is logged once
    assert not silent.final
    assert not told.final


def test_an_echo_alone_is_told() -> None:
    link = Link(ModelDevice())
    link.queue.clear()
    link.to_host(link.sent_by_host[0])
    link.faults = Faults(loss=1.0)
    assert "own bytes" in sentence(link).reason


@pytest.mark.parametrize(
    ("device", "words"),
    [
        (ModelDevice(kind=2), ("shoe", "shuffler is configured", "SN-1")),
        (ModelDevice(kind=77), ("unknown kind 77",)),
        (ModelDevice(serial_number="SN-2"), ("SN-2", "SN-1 is configured")),
        (ModelDevice(lowest_major=2, highest_major=3, header_major=3), ("TDP 3.0 down to 2", "TDP 1.0", "SN-1")),
        (ModelDevice(capabilities=Capability.REFUSES_PLAIN), ("authenticated sessions only",)),
    ],
)
def test_the_wrong_device_is_told_in_a_sentence_and_is_final(device: ModelDevice, words: tuple[str, ...]) -> None:
    link = Link(device, serial_number="SN-1")
    link.run(100)
    (down,) = link.reports
    assert isinstance(down, LinkDown)
    assert down.final
    assert all(word in down.reason for word in words)
    assert link.device.commands == []


def test_a_key_that_the_device_does_not_take_is_final() -> None:
    device = ModelDevice()
    driver = TdpDriver(DeviceKind.SHUFFLER, None)
    step = driver.opened(nonce=b"12345678", key=bytes(32), resume=None, now_ms=0)
    (down,) = driver.receive(device.receive(step.to_send, 2), 4).reports
    assert isinstance(down, LinkDown)
    assert down.final
    assert "does not offer authenticated mode" in down.reason


def test_texts_of_a_device_are_safe_to_print() -> None:
    link = Link(ModelDevice(serial_number="\x1b[2J\nSN"))
    link.run(100)
    assert link.ups()[0].claims.serial_number == "?[2J?SN"

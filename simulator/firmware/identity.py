"""Who a simulated device says it is."""

import hashlib
from dataclasses import dataclass
from typing import Final

from drivers.driver import DeviceKind
from drivers.tdp.codec.enums import Capability, KindCode
from simulator.mechanics.world import RandomStreams

VENDOR: Final = "Simulated Devices"
FIRMWARE_VERSION: Final = "1.0.0"
NEAR_NUMBER_WRAP: Final = 2**32 - 20
NEAR_SEQUENCE_WRAP: Final = 2**16 - 20

MODELS: Final = {DeviceKind.SHUFFLER: "Riffle 3", DeviceKind.SHOE: "Lookout 52", DeviceKind.LAYOUT: "Strip 15"}
CAPABILITIES: Final = {
    DeviceKind.SHUFFLER: Capability.DISPENSES_GROUPS,
    DeviceKind.SHOE: Capability.READS_CARDS,
    DeviceKind.LAYOUT: Capability.SENSES_SEATS,
}
KIND_CODES: Final = {
    DeviceKind.SHUFFLER: KindCode.SHUFFLER,
    DeviceKind.SHOE: KindCode.SHOE,
    DeviceKind.LAYOUT: KindCode.LAYOUT,
}


@dataclass(frozen=True, slots=True)
class Identity:
    """`first_number` and `first_sequence` lie a little before the wrap, so that every run crosses it.

    `clock_offset_ms`: how far the device's own clock is ahead of the world's. `baud`: the speed of its line.
    """

    kind: DeviceKind
    serial_number: str
    boot: bytes
    decks: int
    clock_offset_ms: int
    ring_size: int = 1024
    first_number: int = NEAR_NUMBER_WRAP
    first_sequence: int = NEAR_SEQUENCE_WRAP
    baud: int = 115_200

    @property
    def model(self) -> str:
        """The model's name, one for each kind of device."""
        return MODELS[self.kind]

    @property
    def firmware_hash(self) -> bytes:
        """SHA-256 over model and version, for want of a firmware image."""
        return hashlib.sha256(f"{self.model} {FIRMWARE_VERSION}".encode()).digest()


def identity(kind: DeviceKind, decks: int, streams: RandomStreams, power_up: int = 1) -> Identity:
    """The same device for the same seed; a boot id of its own for every power-up."""
    return Identity(
        kind=kind,
        serial_number=f"SIM-{RandomStreams(streams.seed).token(f'{kind.value} serial number', 3).hex()}",
        boot=streams.token(f"{kind.value} boot {power_up}", 8),
        decks=decks if kind is not DeviceKind.LAYOUT else 0,
        clock_offset_ms=streams.stream(f"{kind.value} clock {power_up}").randrange(10**9),
    )

"""From a journal to the core that wrote it: restart is replay, and a replay that differs is told, never passed over."""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from drivers.driver import DeviceKind
from firmware_bridge.daemon.intake import Core, Intake
from firmware_bridge.journal.rows import AppliedFact, PendingFact, event_body, fact_source_and_name


class ReplayDiffers(Exception):
    """The journal's facts cause other events now than they did; the text is a sentence that names the first one."""


def rebuild(
    core: Core,
    devices: Mapping[str, DeviceKind],
    run: str,
    applied: Iterable[AppliedFact],
    pending: Iterable[PendingFact],
    now_ms: int,
) -> Intake:
    """An intake around `core`, a fresh one, that stands where the journal stands. Raises ReplayDiffers."""
    intake = Intake(core, devices, run)
    for received, origin, fact, recorded in applied:
        told = tuple(event_body(event) for event in intake.replay(received, origin, fact))
        if told != recorded:
            name = "/".join(fact_source_and_name(fact))
            raise ReplayDiffers(
                f"This version reads the journal differently: fact {received} ({name}) {_difference(told, recorded)}."
                " Start the version that wrote it, or set the journal aside once its last round is settled by hand."
            )
    for waiting in pending:
        intake.resume(*waiting, now_ms)
    return intake


def _difference(told: Sequence[bytes], recorded: Sequence[bytes]) -> str:
    """By number and name of the event; its content may not be shown to everybody."""
    for place, (now, then) in enumerate(zip(told, recorded, strict=False), start=1):
        if now != then:
            return f"causes another event {place} ({_name(now)}) than it did ({_name(then)})"
    return f"causes {len(told)} events and caused {len(recorded)}"


class _Named(msgspec.Struct):
    event: str


def _name(event: bytes) -> str:
    return msgspec.json.decode(event, type=_Named).event

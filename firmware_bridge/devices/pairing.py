"""Pairing on a real port: carries drivers/tdp/host/pairing.py between a device and the person beside it."""

import asyncio
import secrets
import time
from collections.abc import Awaitable, Callable
from typing import Final, TypeAlias

from drivers.errors import LinkError
from drivers.sentences import clause
from drivers.tdp.host.pairing import Compare, HostPairing, NotPaired, Paired, PairingStep
from drivers.transports.transport import OpenPort
from firmware_bridge.config import DeviceConfig

NONCE_BYTES: Final = 8
PRIVATE_KEY_BYTES: Final = 32

Ask: TypeAlias = Callable[[Compare], Awaitable[bool]]
_Inbox: TypeAlias = "asyncio.Queue[bytes | bool | Exception]"


class PairingFailed(Exception):
    """The device was not paired; the text is a sentence for a person."""


async def pair(device: DeviceConfig, open_port: OpenPort, ask: Ask) -> Paired:
    """Pair `device`, which is in pairing mode; `ask` has a person compare the digits and says whether they are equal.

    Raises PairingFailed, and what opening the port or `ask` raises. The port is closed in any case.
    """
    private_key, nonce = secrets.token_bytes(PRIVATE_KEY_BYTES), secrets.token_bytes(NONCE_BYTES)
    host = HostPairing(device.kind, device.serial_number, private_key=private_key, nonce=nonce)
    inbox: _Inbox = asyncio.Queue()
    asked: asyncio.Task[None] | None = None
    transport = await open_port(device.port, inbox.put_nowait, inbox.put_nowait)
    try:
        step = host.opened(_now_ms())
        while True:
            if step.to_send:
                transport.write(step.to_send)
            match step.report:
                case Paired():
                    return step.report
                case NotPaired(reason=reason):
                    raise PairingFailed(reason)
                case Compare():
                    asked = asyncio.create_task(_ask(ask, step.report, inbox))
            step = await _next_step(host, inbox)
    finally:
        if asked is not None:
            asked.cancel()
        if stop := host.decline().to_send:
            transport.write(stop)
        await transport.close()


async def _ask(ask: Ask, compare: Compare, inbox: _Inbox) -> None:
    try:
        inbox.put_nowait(await ask(compare))
    except Exception as error:  # noqa: BLE001  whoever waits for the answer raises it
        inbox.put_nowait(error)


async def _next_step(host: HostPairing, inbox: _Inbox) -> PairingStep:
    """Whatever is first: bytes, the person's answer, or the time.

    Raises PairingFailed when the port is lost, and what `ask` raised.
    """
    wake_at_ms = host.wake_at_ms
    try:
        async with asyncio.timeout(None if wake_at_ms is None else max(wake_at_ms - _now_ms(), 1) / 1000):
            event = await inbox.get()
    except TimeoutError:
        return host.tick(_now_ms())
    match event:
        case bytes():
            return host.receive(event, _now_ms())
        case bool():
            return host.confirm(_now_ms()) if event else host.decline()
        case LinkError():
            raise PairingFailed(f"{clause(event)}: the device was not paired.")
    raise event


def _now_ms() -> int:
    return time.monotonic_ns() // 1_000_000

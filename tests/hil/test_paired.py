"""What a device that was paired has to do besides: it speaks to whoever has its key, and to nobody else.

Run for devices whose key is named (`--key`). Numbers in brackets are sections of drivers/tdp/spec.md.
"""

from dataclasses import replace

import pytest

from drivers.commands import CommandKind
from drivers.driver import DeviceKind
from drivers.framing import FrameDecoder, encode_frame
from drivers.tdp.codec.command_messages import Alive, CommandMessage, Ping
from drivers.tdp.codec.enums import COMMAND_CODES, Capability
from drivers.tdp.codec.fact_messages import State
from drivers.tdp.codec.session_messages import Start
from tests.hil.bench.bench import Bench
from tests.hil.bench.frames import FrameLog
from tests.hil.bench.wire import Wire

pytestmark = pytest.mark.timeout(0)

LISTENING_S = 0.7
REPORT_STATE = COMMAND_CODES[CommandKind.REPORT_STATE]


@pytest.fixture(autouse=True)
def _with_a_key(bench: Bench, kind: DeviceKind) -> None:
    if bench.devices[kind].key is None:
        pytest.skip("needs a paired device and its key (--key)")


async def test_without_its_key_it_starts_nothing(wire: Wire, log: FrameLog) -> None:
    """(9.3) A plain session says that the device is paired, and takes no START and no COMMAND; PING is answered."""
    await wire.close()
    async with Wire(replace(wire.device, key=None), log) as plain:
        answer = await plain.hello()
        assert answer.key_id == 0, "its session is authenticated though no key was named"
        assert answer.capabilities & Capability.REFUSES_PLAIN, "it does not say that it is paired"
        await plain.ping()
        plain.send(Start(resume=None))
        plain.send(CommandMessage(id=1, command=REPORT_STATE))
        await plain.ping()
        await plain.listen(LISTENING_S)
        assert plain.of(State) == [], "it has begun a plain session"
        assert plain.outcomes(1) == [], "it has taken a command in a plain session"


async def test_what_was_not_made_with_its_key_does_nothing(wire: Wire) -> None:
    """(9.3) A frame without a trailer, one with a wrong one, and a good one that comes again: the session goes on."""
    await wire.start()
    good = wire.frame(CommandMessage(id=7, command=REPORT_STATE))
    (body,) = FrameDecoder().feed(b"\0" + good)
    wire.write(encode_frame(body[:-1] + bytes((body[-1] ^ 1,))))
    wire.write(wire.plain(CommandMessage(id=8, command=REPORT_STATE)))
    await wire.ping()
    assert wire.outcomes(7) == [], "it has taken a command that was forged"
    assert wire.outcomes(8) == [], "it has taken a command without a trailer"
    ping = wire.frame(Ping(id=900_010))
    wire.write(ping)
    wire.write(ping)
    await wire.ping()
    await wire.ping()
    answers = sum(alive.ping == 900_010 for alive in wire.of(Alive))
    assert answers == 1, f"it has answered a frame that came twice {answers} times"

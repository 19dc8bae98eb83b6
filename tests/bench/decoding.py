"""Decoding frames, beside three libraries that decode theirs: `make bench`.

Everyone gets the same payloads of 16 bytes in its own frames, made by its own encoder where it has one, and the
stream in pieces of 1, 16 and 4096 bytes, cut beforehand into the type that it takes. Ours checks the CRC, reads the
header and puts the frames into the order of their sequences. What comes out must be the payloads, every one, before
anything is measured: who loses frames at a size of piece is told so and is no peer there.
"""

import sys
from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

import pynmea2
from bellows.ash import AshProtocol, DataFrame, Reserved
from pymodbus.framer import FramerRTU
from pymodbus.pdu import DecodePDU
from pymodbus.pdu.register_message import ReadHoldingRegistersResponse

from drivers.framing import DELIMITER, FrameDecoder, encode_frame
from drivers.tdp.codec.header import HEADER_SIZE, Header
from drivers.tdp.host.stream import SequencedReceiver
from tests.bench.turns import best_times

ROUNDS: Final = 60
OURS: Final = "firmware-bridge"
AIMS: Final = {1: 4, 16: 5, 4096: 6}
FRAMES: Final = 500
PAYLOADS: Final = tuple(b"%016d" % (number * 7_919) for number in range(FRAMES))
"""Text, since a sentence of NMEA 0183 carries nothing else."""
SESSION: Final = 0x5EED0123
FIRST_SEQUENCE: Final = 0xFFF0

Decode: TypeAlias = Callable[[], list[bytes]]
"""Everything anew, from a fresh decoder to the list of payloads."""


def _pieces(stream: bytes, size: int) -> list[bytes]:
    return [stream[at : at + size] for at in range(0, len(stream), size)]


def _ours(size: int) -> Decode:
    headers = [
        Header(to_host=True, message_type=0x90, session=SESSION, sequence=(FIRST_SEQUENCE + number) & 0xFFFF)
        for number in range(FRAMES)
    ]
    frames = [encode_frame(header.to_bytes() + payload) for header, payload in zip(headers, PAYLOADS, strict=True)]
    pieces = _pieces(DELIMITER + b"".join(frames), size)

    def decode() -> list[bytes]:
        feed = FrameDecoder().feed
        take = SequencedReceiver[bytes](FIRST_SEQUENCE).take
        payloads: list[bytes] = []
        for piece in pieces:
            for body in feed(piece):
                header = Header.from_bytes(body)
                if header.to_host and header.session == SESSION:
                    payloads += take(header.sequence, body[HEADER_SIZE:])
        return payloads

    return decode


class _Upstairs:
    """What bellows hands its frames to."""

    def __init__(self) -> None:
        self.payloads: list[bytes] = []

    def data_received(self, data: bytes) -> None:
        self.payloads.append(data)


def _bellows(size: int) -> Decode:
    flag = bytes([Reserved.FLAG])
    stream = b"".join(
        bytes(AshProtocol._stuff_bytes(DataFrame(number % 8, False, 0, payload).to_bytes())) + flag
        for number, payload in enumerate(PAYLOADS)
    )
    pieces = _pieces(stream, size)

    def decode() -> list[bytes]:
        upstairs = _Upstairs()
        feed = AshProtocol(upstairs, suppress_acks=True).data_received  # answering is no part of this
        for piece in pieces:
            feed(piece)
        return upstairs.payloads

    return decode


def _pymodbus(size: int) -> Decode:
    framer = FramerRTU(DecodePDU(False))
    answers = [ReadHoldingRegistersResponse(dev_id=1, registers=_registers(payload)) for payload in PAYLOADS]
    pieces = _pieces(b"".join(framer.buildFrame(answer) for answer in answers), size)

    def registers() -> Iterator[list[int]]:
        waiting = b""
        for piece in pieces:
            waiting += piece
            used, answer = framer.handleFrame(waiting, 0, 0)
            waiting = waiting[used:]
            if answer is not None:
                yield answer.registers

    return lambda: [b"".join(word.to_bytes(2, "big") for word in words) for words in registers()]


def _registers(payload: bytes) -> list[int]:
    return [int.from_bytes(payload[at : at + 2], "big") for at in range(0, len(payload), 2)]


def _pynmea2(size: int) -> Decode:
    stream = "".join(f"{pynmea2.ProprietarySentence('TDP', ['', payload.decode()])!s}\r\n" for payload in PAYLOADS)
    pieces = [stream[at : at + size] for at in range(0, len(stream), size)]

    def sentences() -> Iterator[pynmea2.NMEASentence]:
        feed = pynmea2.NMEAStreamReader().next
        for piece in pieces:
            yield from feed(piece)

    return lambda: [sentence.data[-1].encode() for sentence in sentences()]


PEERS: Final[dict[str, Callable[[int], Decode]]] = {"bellows": _bellows, "pymodbus": _pymodbus, "pynmea2": _pynmea2}


def main() -> int:
    """Measure and print; 1 when ours loses a frame."""
    expected = list(PAYLOADS)
    print(f"decoding {FRAMES:,} frames of 16 bytes, best of {ROUNDS} rounds")
    for size, aim in AIMS.items():
        runs: dict[str, Decode] = {}
        lost: dict[str, int] = {}
        for name, peer in {OURS: _ours, **PEERS}.items():
            run = peer(size)
            decoded = run()
            if decoded == expected:
                runs[name] = run
            else:
                lost[name] = len(set(expected).difference(decoded))
        if OURS not in runs:
            print(f"{OURS} does not give every frame back in pieces of {size} bytes", file=sys.stderr)
            return 1
        times = best_times(runs, ROUNDS)
        fastest = min((seconds for name, seconds in times.items() if name != OURS), default=float("inf"))
        print(f"in pieces of {size:,}")
        for name, seconds in times.items():
            print(f"  {name:16}{FRAMES / seconds / 1e3:9.0f} k/s   {seconds / times[OURS]:5.1f} times our time")
        for name, frames in lost.items():
            print(f"  {name:16}loses {frames:,} of {FRAMES:,} frames")
        print(f"  {OURS} is {fastest / times[OURS]:.1f} times as fast as the fastest of them, aim {aim}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""A shuffler's firmware as somebody writes it who has nothing but drivers/tdp/spec.md and Python's standard library.

Section numbers are that document's. The clock and the bytes come from whoever runs it.
"""

import struct
from dataclasses import dataclass, field

VERSION, TO_HOST, AUTHENTICATED = 0x10, 0x80, 0x40
HELLO, HELLO_ANSWER, START, STARTED, STATE, FACT, GAP = 1, 2, 3, 4, 5, 6, 7
ACK, DURABLE, PING, ALIVE, COMMAND, OUTCOME = 8, 9, 10, 11, 12, 13
SHUFFLE, DISPENSE_GROUP, STOP, RESUME = 1, 2, 3, 4
ACCEPTED, STARTED_NOW, FINISHED, REFUSED = 1, 2, 3, 4
SHUFFLE_COMPLETED, GROUP_READY = 1, 2
WINDOW, RING, LONGEST = 8, 256, 515
HEARTBEAT_MS, SILENCE_MS, STUCK_MS = 500, 3000, 10_000
SHORTEST_MS, FIRST_MS, LONGEST_MS = 50, 250, 1000


def crc32(data: bytes) -> int:
    """2.1: reflected 04C11DB7."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0xEDB88320 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def stuff(data: bytes) -> bytes:
    """2.1: COBS."""
    out = bytearray()
    *runs, last = data.split(b"\x00")
    for run in [*runs, last]:
        rest = run
        while len(rest) >= 254:
            out += b"\xff" + rest[:254]
            rest = rest[254:]
        out += bytes((len(rest) + 1,)) + rest
    return bytes(out[:-1]) if last and len(last) % 254 == 0 else bytes(out)


def unstuff(data: bytes) -> bytes | None:
    out, at = bytearray(), 0
    while at < len(data):
        code = data[at]
        run = data[at + 1 : at + code]
        if len(run) != code - 1:
            return None
        out += run
        at += code
        if code != 0xFF and at < len(data):
            out.append(0)
    return bytes(out)


def ahead(a: int, b: int, bits: int) -> int:
    """3.3."""
    half = 1 << bits - 1
    return (a - b + half) % (2 * half) - half


def text(value: str) -> bytes:
    return bytes((len(value),)) + value.encode()


@dataclass
class Shuffler:
    boot: bytes
    number: int = 1  # the next fact's
    ring: dict[int, bytes] = field(default_factory=dict)  # payloads of FACT by number, the oldest first
    stopped: bool = False
    groups: int = 0
    frame: bytearray | None = None  # 2.4: None is unsync, one that is full is skip
    nonce: bytes | None = None
    nonce_before: bytes | None = None
    out: bytearray = field(default_factory=bytearray)

    def __post_init__(self) -> None:
        self.last_command, self.last_outcome = 0, 0
        self._new_session(0)

    def _new_session(self, clock: int) -> None:  # 4.2
        self.window: dict[int, tuple[int, bytes]] = {}  # type and payload by sequence, the oldest first
        self.sent_once: dict[int, int] = {}  # when, by sequence
        self.queue: list[tuple[int, bytes]] = []
        self.sequence = self.first_sequence = 0xFFFF
        self.next_fact, self.highest_command, self.host_sequence, self.started = self.number, 0, 0, False
        self.heard_ms = self.sent_ms = self.moved_ms = self.again_ms = clock
        self.timeout_ms, self.trips = FIRST_MS, (-1.0, 0.0)

    def receive(self, data: bytes, clock: int) -> bytes:
        for byte in data:
            if byte and self.frame is not None and len(self.frame) <= LONGEST:
                self.frame.append(byte)
            if byte:
                continue
            body = unstuff(bytes(self.frame or b"")) or b""
            if len(body) >= 15 and len(body) <= 512 and crc32(body[:-4]) == int.from_bytes(body[-4:], "little"):
                self._good_frame(body[:-4], clock)
            self.frame = bytearray()
        return self._flush(clock)

    def tick(self, clock: int) -> bytes:  # 8.1
        if self.nonce is None:
            return b""
        if clock - self.heard_ms >= SILENCE_MS or (self.window and clock - self.moved_ms >= STUCK_MS):
            self.nonce_before, self.nonce, self.started = self.nonce, None, False
            return b""
        oldest = next(iter(self.window), None)
        line_ms = sum(17 + len(payload) for _, payload in self.window.values()) * 10 / 115.2
        if oldest is not None and clock - self.sent_once.get(oldest, self.again_ms) >= self.timeout_ms + line_ms:
            self.timeout_ms, self.again_ms, self.sent_once = min(2 * self.timeout_ms, LONGEST_MS), clock, {}
            for sequence, (kind, payload) in self.window.items():
                self._send(kind, payload, sequence)
        elif self.started and clock - self.sent_ms >= HEARTBEAT_MS:
            self._alive(0, clock)
        return self._flush(clock)

    def happens(self, code: int, fields: bytes, clock: int) -> bytes:
        self._keep(code, fields, clock)
        return self._flush(clock)

    def _keep(self, code: int, fields: bytes, clock: int) -> None:  # 4.4
        if len(self.ring) == RING:
            oldest = next(iter(self.ring))
            del self.ring[oldest]
            if self.started and ahead(oldest, self.next_fact, 32) >= 0:
                self.next_fact = next(iter(self.ring))
                self.queue.append((GAP, struct.pack("<I", self.next_fact)))
        self.ring[self.number] = struct.pack("<IQB", self.number, clock, code) + fields
        self.number = (self.number + 1) % 2**32

    def _good_frame(self, body: bytes, clock: int) -> None:  # 3.1, in its order
        version, flags, kind, session, sequence, acknowledged = struct.unpack_from("<BBBIHH", body)
        payload = body[11:]
        needs = {HELLO: 16, START: 13, ACK: 0, DURABLE: 4, PING: 9, COMMAND: 9}.get(kind)
        if flags & (TO_HOST | AUTHENTICATED) or needs is None or len(payload) < needs:
            return
        if kind == HELLO:
            self._hello(payload, clock)
        if kind == HELLO or version >> 4 != 1 or self.nonce is None or session != self.session:
            return
        self.heard_ms, self.host_sequence = clock, sequence
        self._acknowledged(acknowledged, clock)
        if kind == START and not self.started and self.common_major:
            self._start(payload, clock)
        elif kind == DURABLE and self.started:
            self._durable(int.from_bytes(payload[:4], "little"))
        elif kind == PING and any(payload[:4]):
            if payload[4] & 1 and self.started:
                self._durable(int.from_bytes(payload[5:9], "little"))
            self._alive(int.from_bytes(payload[:4], "little"), clock)
        elif kind == COMMAND and self.started:
            self._command(int.from_bytes(payload[:8], "little"), payload[8], clock)

    def _hello(self, payload: bytes, clock: int) -> None:
        nonce, attempt = payload[:8], payload[8:10]
        if nonce == self.nonce_before and self.nonce not in (nonce, None):
            return
        if nonce != self.nonce:
            self.nonce_before, self.nonce = self.nonce or self.nonce_before, nonce
            self._new_session(clock)
            self.session = crc32(nonce + self.boot) or 1
        self.heard_ms = clock
        self.common_major = payload[10] <= 1 <= payload[11]
        answer = nonce + attempt + self.boot + struct.pack("<QBBBBIBI", clock, 1, 1, 1, 0, 2, 1, RING)
        answer += struct.pack("<HI", self.first_sequence, 0) + bytes(8) + bytes(32) + bytes(3)
        answer += text("Stranger") + text("One") + text("S-1") + text("0.1")
        self.out.append(0)
        self._send(HELLO_ANSWER, answer, 0, session=0)

    def _start(self, payload: bytes, clock: int) -> None:  # 4.3
        first, gap = next(iter(self.ring), self.number), 0
        if payload[0] & 1:
            following = (int.from_bytes(payload[9:13], "little") + 1) % 2**32
            if payload[1:9] == self.boot and (following in self.ring or following == self.number):
                self._durable((following - 1) % 2**32)
                first = following
            else:
                gap = 1
        self.started, self.next_fact = True, first
        state = struct.pack("<QHQB", clock, 2 * self.stopped, self.last_command, self.last_outcome)
        self.queue += [(STARTED, struct.pack("<BI", gap, first)), (STATE, state)]

    def _durable(self, number: int) -> None:
        if number in self.ring:
            for old in [kept for kept in self.ring if ahead(kept, number, 32) <= 0]:
                del self.ring[old]

    def _command(self, command_id: int, code: int, clock: int) -> None:  # 7.3
        if command_id <= self.highest_command:
            return
        self.highest_command = self.last_command = command_id
        if not SHUFFLE <= code <= RESUME or (self.stopped and code <= DISPENSE_GROUP):
            self._outcome(command_id, REFUSED, "stopped" if self.stopped else "unknown command")
            return
        self._outcome(command_id, ACCEPTED)
        self._outcome(command_id, STARTED_NOW)
        if code == SHUFFLE:
            self._keep(SHUFFLE_COMPLETED, struct.pack("<HB", 52, 0) + text(""), clock)
        elif code == DISPENSE_GROUP:
            self.groups += 1
            self._keep(GROUP_READY, struct.pack("<IH", self.groups, 3), clock)
        else:
            self.stopped = code == STOP
        self._outcome(command_id, FINISHED)

    def _outcome(self, command_id: int, outcome: int, reason: str = "") -> None:
        self.last_outcome = outcome
        self.queue.append((OUTCOME, struct.pack("<QB", command_id, outcome) + text(reason)))

    def _acknowledged(self, expected: int, clock: int) -> None:  # 3.2 and 8.1
        done = [sequence for sequence in self.window if ahead(sequence, expected, 16) < 0]
        if not done or ahead(expected, self.sequence, 16) > 0:
            return
        for sequence in done:
            del self.window[sequence]
            trip, (smoothed, deviation) = clock - self.sent_once.pop(sequence, clock + 1), self.trips
            if trip >= 0 and smoothed < 0:
                self.trips = trip, trip / 2
            elif trip >= 0:
                deviation += (abs(smoothed - trip) - deviation) / 4
                self.trips = smoothed + (trip - smoothed) / 8, deviation
        learned = round(self.trips[0] + 4 * self.trips[1]) if self.trips[0] >= 0 else FIRST_MS
        self.timeout_ms, self.moved_ms = min(max(learned, SHORTEST_MS), LONGEST_MS), clock

    def _alive(self, ping: int, clock: int) -> None:
        self._send(ALIVE, struct.pack("<IQI", ping, clock, self.number), self.sequence)

    def _flush(self, clock: int) -> bytes:
        while self.started and len(self.window) < WINDOW and (self.queue or self.next_fact in self.ring):
            if self.queue:
                kind, payload = self.queue.pop(0)
            else:
                kind, payload = FACT, self.ring[self.next_fact]
                self.next_fact = (self.next_fact + 1) % 2**32
            self.moved_ms = self.moved_ms if self.window else clock
            self.window[self.sequence], self.sent_once[self.sequence] = (kind, payload), clock
            self._send(kind, payload, self.sequence)
            self.sequence = (self.sequence + 1) % 2**16
        out, self.out = bytes(self.out), bytearray()
        self.sent_ms = clock if out else self.sent_ms
        return out

    def _send(self, kind: int, payload: bytes, sequence: int, session: int | None = None) -> None:
        wanted = self.session if session is None else session
        body = struct.pack("<BBBIHH", VERSION, TO_HOST, kind, wanted, sequence, self.host_sequence) + payload
        self.out += stuff(body + crc32(body).to_bytes(4, "little")) + b"\x00"

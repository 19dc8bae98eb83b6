"""What the host sends: messages in order, as the frames of its session (drivers/tdp/spec.md sections 3 and 4)."""

from typing import Final

from drivers.framing import DELIMITER
from drivers.sequence import SEQUENCE_BITS, seq_add
from drivers.tdp.codec.fact_messages import Ack
from drivers.tdp.codec.messages import HostMessage, wire_frame
from drivers.tdp.codec.session_messages import Hello
from drivers.tdp.host.auth import Seal


class Outgoing:
    """Messages wait here until the driver answers its caller. All but HELLO need the session that `begin` gives."""

    def __init__(self) -> None:
        self.messages: Final[list[HostMessage]] = []
        self.session_id = 0
        self._seal: Seal | None = None
        self._sequence = 0
        self._ack_due = False

    def begin(self, session_id: int, seal: Seal | None) -> None:
        """The device has answered: what follows belongs to this session."""
        self.session_id, self._seal = session_id, seal

    def put(self, message: HostMessage) -> None:
        """Send that message next."""
        self.messages.append(message)

    def acknowledge(self) -> None:
        """A sequenced frame came: whatever is sent next acknowledges it, an ACK where there is nothing else."""
        self._ack_due = True

    def clear(self) -> None:
        """The connection has come to its end: nothing is sent any more."""
        self.messages.clear()
        self._ack_due = False

    def frames(self, expected: int) -> bytes:
        """What waits, as bytes behind a delimiter; each frame acknowledges all before sequence number `expected`."""
        if self._ack_due and not self.messages:
            self.messages.append(Ack())
        frames = [self._encode(message, expected) for message in self.messages]
        self.clear()
        return DELIMITER + b"".join(frames) if frames else b""

    def _encode(self, message: HostMessage, expected: int) -> bytes:
        if isinstance(message, Hello):
            return wire_frame(message, session=0, sequence=0, acknowledgement=0)
        sequence, self._sequence = self._sequence, seq_add(self._sequence, 1, SEQUENCE_BITS)
        return wire_frame(
            message, session=self.session_id, sequence=sequence, acknowledgement=expected, seal=self._seal
        )

"""A host, a device of the simulator's, and somebody in between who has the wire and records everything on it."""

from dataclasses import dataclass
from random import Random

from drivers import facts
from drivers.commands import Command, CommandKind
from drivers.driver import DeviceKind, LinkDown, LinkUp, NumberedFact, Report, Resume, Step
from drivers.framing import FrameDecoder, encode_frame
from drivers.tdp.codec.enums import StateFlag
from drivers.tdp.host.driver import TdpDriver
from simulator.firmware.device import Firmware
from simulator.firmware.device_auth import DeviceAuth
from simulator.firmware.identity import Identity
from simulator.firmware.motors import Motion

KEY = bytes(range(32))
FIRST_NUMBER = 2**32 - 5


class Machine:
    """Does everything at once, and remembers what."""

    def __init__(self) -> None:
        self.done: list[CommandKind] = []

    def state(self) -> StateFlag:
        return StateFlag(0)

    def take_up(self, command: CommandKind) -> Motion | None:
        self.done.append(command)
        return None


@dataclass(frozen=True, slots=True)
class Recorded:
    """A frame's body as it was on the wire."""

    to_host: bool
    body: bytes


class Wire:
    """Bodies wait in `to_host` and `to_device` until they are delivered, or something else is done with them."""

    def __init__(self, key: bytes | None = KEY, device_key: bytes | None = KEY, seed: int = 1) -> None:
        self.key = key
        self.random = Random(seed)
        self.machine = Machine()
        self.firmware = Firmware(
            Identity(DeviceKind.SHUFFLER, "SN-1", b"boot---1", 1, 5000, first_number=FIRST_NUMBER),
            self.machine,
            DeviceAuth(self.random.randbytes, device_key),
        )
        self.now_ms = 1000
        self.waiting: dict[bool, list[bytes]] = {True: [], False: []}
        self.recorded: list[Recorded] = []
        self.reports: list[Report] = []
        self.sent: list[CommandKind] = []
        self.made = 0
        self.resume: Resume | None = None
        self._decoders: dict[bool, FrameDecoder] = {}
        self.connect()

    def connect(self) -> None:
        """The host opens its port anew; what was on the way is lost."""
        self.waiting = {True: [], False: []}
        self._decoders = {True: FrameDecoder(), False: FrameDecoder()}
        self.firmware.plugged_in()
        self.driver = TdpDriver(DeviceKind.SHUFFLER, None)
        nonce = self.random.randbytes(8)
        self.host(self.driver.opened(nonce=nonce, key=self.key, resume=self.resume, now_ms=self.now_ms))

    def host(self, step: Step) -> None:
        self.reports += step.reports
        self._carry(step.to_send, to_host=False)
        for report in step.reports:
            if isinstance(report, NumberedFact):
                self.resume = Resume(report.boot, report.number)
                self._carry(self.driver.durable(report.number, self.now_ms).to_send, to_host=False)

    def device(self, data: bytes) -> None:
        self._carry(data, to_host=True)

    def inject(self, body: bytes, *, to_host: bool) -> None:
        """A frame with a right CRC, whatever is in it."""
        frame = b"\x00" + encode_frame(body)
        if to_host:
            self.host(self.driver.receive(frame, self.now_ms))
        else:
            self.device(self.firmware.receive(frame, self.now_ms))

    def deliver(self, *, to_host: bool) -> bool:
        """The oldest frame that waits arrives; whether there was one."""
        if not self.waiting[to_host]:
            return False
        self.inject(self.waiting[to_host].pop(0), to_host=to_host)
        return True

    def deliver_all(self) -> None:
        while self.deliver(to_host=True) or self.deliver(to_host=False):
            pass

    def run(self, ms: int) -> None:
        """Time goes on, and the wire is left alone."""
        for _ in range(0, ms, 10):
            self.pass_time(10)
            self.deliver_all()

    def pass_time(self, ms: int) -> None:
        self.now_ms += ms
        self.host(self.driver.tick(self.now_ms))
        self.device(self.firmware.tick(self.now_ms))

    def happens(self) -> None:
        self.made += 1
        self.device(self.firmware.report(facts.GroupReady(at_ms=0, group=self.made, cards=3), self.now_ms))

    def send(self, kind: CommandKind) -> None:
        self.sent.append(kind)
        self.host(self.driver.send(Command(id=len(self.sent), kind=kind), self.now_ms))

    def told(self) -> list[tuple[int, int]]:
        """Number and group of every fact that was reported."""
        found = []
        for report in self.reports:
            if isinstance(report, NumberedFact):
                assert isinstance(report.fact, facts.GroupReady)
                found.append((report.number, report.fact.group))
        return found

    def true(self) -> list[tuple[int, int]]:
        """What `told` has to be in the end."""
        return [((FIRST_NUMBER + group - 1) % 2**32, group) for group in range(1, self.made + 1)]

    def downs(self) -> list[LinkDown]:
        return [report for report in self.reports if isinstance(report, LinkDown)]

    def ups(self) -> list[LinkUp]:
        return [report for report in self.reports if isinstance(report, LinkUp)]

    def _carry(self, data: bytes, *, to_host: bool) -> None:
        for body in self._decoders[to_host].feed(data):
            self.waiting[to_host].append(body)
            self.recorded.append(Recorded(to_host, body))

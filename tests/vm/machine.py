"""A virtual machine with Debian's kernel, systemd and a USB controller that this process plugs things into."""

import json
import selectors
import shutil
import socket
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Final

BOOT_S: Final = 180.0
RUN_S: Final = 120.0
PYTHON: Final = "/opt/firmware-bridge/bin/python"
QMP_S: Final = 30.0
CLOSE_S: Final = 20.0
LOOK_AGAIN_S: Final = 0.05
MEMORY_MB: Final = 1024
USB_PORTS: Final = 8
# Serial lines into the guest: one end is /dev/virtio-ports/NAME there, the other goes into a USB adapter.
WIRES: Final = ("shuffler", "shoe", "layout", "stranger")
TAIL_LINES: Final = 60


class MachineError(Exception):
    """The machine did not do what it was told; the text says what, and ends with the tail of its serial log."""


@dataclass(frozen=True, slots=True)
class Ran:
    """How a command in the guest ended."""

    status: int
    out: str
    err: str


class Lines:
    """A stream socket of JSON lines."""

    def __init__(self, path: Path, deadline_s: float) -> None:
        self.socket: Final = socket.socket(socket.AF_UNIX)
        self._received = bytearray()
        while True:
            try:
                self.socket.connect(str(path))
            except OSError:
                if time.monotonic() > deadline_s:
                    raise
                time.sleep(LOOK_AGAIN_S)
            else:
                return

    def send(self, message: object) -> None:
        self.socket.sendall(json.dumps(message).encode() + b"\n")

    def take(self) -> list[dict[str, Any]]:
        """Wait for bytes; the messages that are complete by then. Raises EOFError when the other side is gone."""
        data = self.socket.recv(65_536)
        if not data:
            raise EOFError
        *lines, rest = (self._received + data).split(b"\n")
        self._received = bytearray(rest)
        return [json.loads(line) for line in lines if line.strip()]


class VirtualMachine:
    """Boots when made; `close` ends it whatever state it is in.

    `folder` gets the sockets and `serial.log`; its path must be short enough for sockets.
    """

    def __init__(self, image: Path, code: Path, folder: Path) -> None:
        self.log: Final = folder / "serial.log"
        self._plugged: dict[str, int] = {}
        first = folder / "first.cpio"
        with first.open("wb") as joined:
            for part in (code, image / "first.cpio.zst"):  # the uncompressed one first, or the kernel stumbles
                joined.write(part.read_bytes())
        self._process: Final = subprocess.Popen(
            _command(image, first, folder),
            stdin=subprocess.DEVNULL,
            stdout=(folder / "qemu.log").open("wb"),
            stderr=subprocess.STDOUT,
        )
        try:
            deadline_s = time.monotonic() + BOOT_S
            self._qmp: Final = Lines(folder / "qmp", time.monotonic() + QMP_S)
            self._agent: Final = Lines(folder / "agent", time.monotonic() + QMP_S)
            self._hands: Final = Lines(folder / "hands", time.monotonic() + QMP_S)
            self._selector: Final = selectors.DefaultSelector()
            self._selector.register(self._agent.socket, selectors.EVENT_READ, self._agent)
            self._selector.register(self._hands.socket, selectors.EVENT_READ, self._hands)
            self._monitor("qmp_capabilities")
            self._answer(deadline_s, "the machine to boot")
        except (OSError, EOFError) as error:
            told = (folder / "qemu.log").read_text(encoding="utf-8", errors="replace")
            self.close()
            raise MachineError(f"The machine did not start ({error!r}): {told}{self.tail()}") from error
        except MachineError:
            self.close()
            raise

    def run(self, *command: str, timeout_s: float = RUN_S) -> Ran:
        """Run a command in the guest to its end, whatever its status, doing with the plugs what it asks for."""
        self._agent.send({"run": command, "timeout_s": timeout_s})
        answer = self._answer(time.monotonic() + timeout_s + RUN_S, f"`{' '.join(command)}` to end")
        return Ran(answer["status"], answer["out"], answer["err"])

    def check(self, *command: str, timeout_s: float = RUN_S) -> str:
        """The same for one that has to succeed: its output. Raises MachineError."""
        ran = self.run(*command, timeout_s=timeout_s)
        if ran.status:
            raise MachineError(f"`{' '.join(command)}` ended with {ran.status}: {ran.out}{ran.err}{self.tail()}")
        return ran.out

    def shell(self, script: str, timeout_s: float = RUN_S) -> str:
        """The same for a few lines of shell."""
        return self.check("/bin/sh", "-euc", script, timeout_s=timeout_s)

    def wait_for(self, condition: str, timeout_s: float = RUN_S) -> None:
        """Wait in the guest until a shell condition is true. Raises MachineError when it does not become so."""
        tries = int(timeout_s / LOOK_AGAIN_S)
        loop = f"n=0; until {condition}; do n=$((n+1)); test $n -lt {tries}; sleep {LOOK_AGAIN_S}; done"
        self.shell(loop, timeout_s=timeout_s)

    def python(self, module: ModuleType, *arguments: str, timeout_s: float = RUN_S) -> Any:
        """Run a module of tests.vm.guest in the guest; gives the last line it prints, read as JSON."""
        python = (
            "/usr/bin/env",
            "-C",
            "/opt/bench",
            "/opt/firmware-bridge/bin/python",
            "-m",
            module.__name__,
        )
        out = self.check(*python, *arguments, timeout_s=timeout_s)
        return json.loads(out.strip().rpartition("\n")[2])

    def plug(self, name: str, *, serial_number: str, port: int, wire: str | None = None) -> None:
        """A USB adapter with an FTDI chip, its far end on the wire of that name, goes into a port (from 1 on)."""
        self._monitor(
            "device_add",
            driver="usb-serial",
            id=name,
            chardev=f"wire-{wire or name}",
            bus="usb.0",
            port=str(port),
            serial=serial_number,
        )
        self._plugged[name] = port

    def pull(self, name: str) -> None:
        """The adapter's plug is pulled out, whatever is under way."""
        self._monitor("device_del", id=name)
        self._monitor_event("DEVICE_DELETED", name)
        del self._plugged[name]

    def pull_all(self) -> None:
        for name in tuple(self._plugged):
            self.pull(name)

    def tail(self) -> str:
        """The end of the serial log, as a block of text."""
        if not self.log.exists():
            return "\n(there is no serial log)"
        lines = self.log.read_text(encoding="utf-8", errors="replace").splitlines()[-TAIL_LINES:]
        return "\n".join(("", "The end of the serial log:", *(f"    {line.rstrip()}" for line in lines)))

    def close(self) -> None:
        """Let the guest write its closing line and end; make it end where it does not."""
        if self._process.poll() is None:
            try:
                self._agent.send({"close": True})
                self._process.wait(CLOSE_S)
            except (AttributeError, OSError, subprocess.TimeoutExpired):
                self._process.kill()
                self._process.wait()

    def _answer(self, deadline_s: float, what: str) -> dict[str, Any]:
        """The agent's next message; meanwhile the hands do what the guest asks of them."""
        while True:
            for key, _ in self._selector.select(deadline_s - time.monotonic()):
                try:
                    messages = key.data.take()
                except (EOFError, OSError):
                    raise MachineError(f"The machine ended while this waited for {what}.{self.tail()}") from None
                for message in messages:
                    if key.data is self._agent:
                        return dict(message)
                    self._hands.send(self._lend_a_hand(message))
            if time.monotonic() > deadline_s:
                raise MachineError(f"This waited in vain for {what}.{self.tail()}")

    def _lend_a_hand(self, message: dict[str, Any]) -> dict[str, Any]:
        works: dict[str, Callable[..., None]] = {"plug": self.plug, "pull": self.pull}
        try:
            works[message.pop("do")](**message)
        except (MachineError, KeyError, TypeError) as error:
            return {"done": False, "why": repr(error)}
        return {"done": True}

    def _monitor(self, command: str, **arguments: object) -> None:
        self._qmp.socket.settimeout(QMP_S)
        self._qmp.send({"execute": command, "arguments": arguments})
        self._events: list[dict[str, Any]] = []
        while True:
            for message in self._qmp.take():
                if "error" in message:
                    raise MachineError(f"QEMU refuses {command}: {message['error'].get('desc')}")
                if "event" in message:
                    self._events.append(message)
                if "return" in message:
                    return

    def _monitor_event(self, name: str, device: str) -> None:
        """The event about that device, which may have come before the command's answer."""
        deadline_s = time.monotonic() + QMP_S
        while not any(e["event"] == name and e["data"].get("device") == device for e in self._events):
            if time.monotonic() > deadline_s:
                raise MachineError(f"QEMU did not tell {name} of {device}.{self.tail()}")
            self._events += [message for message in self._qmp.take() if "event" in message]


def _command(image: Path, first: Path, folder: Path) -> list[str]:
    """QEMU without acceleration, so that the machine is the same everywhere; it dies with this process."""
    setpriv, qemu = shutil.which("setpriv"), shutil.which("qemu-system-x86_64")
    if setpriv is None or qemu is None:
        raise MachineError("setpriv and qemu-system-x86_64 are needed: run tests/parts/virtual_machine.sh")
    command = [setpriv, "--pdeathsig", "KILL", qemu, "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"]
    command += [
        "-machine",
        "q35",
        "-accel",
        "tcg,thread=multi,tb-size=512",
        "-cpu",
        "max,la57=off",
        "-smp",
        "2",
        "-m",
        str(MEMORY_MB),
    ]
    command += ["-kernel", str(image / "vmlinuz"), "-initrd", str(first)]
    command += [
        "-append",
        "console=ttyS0 quiet panic=-1 systemd.show_status=0 audit=0 apparmor=0 mitigations=off tsc=reliable",
    ]
    command += ["-drive", f"file={image / 'root.ext4'},if=virtio,format=raw,snapshot=on"]
    command += ["-serial", f"file:{folder / 'serial.log'}", "-device", "virtio-serial"]
    command += ["-device", f"qemu-xhci,id=usb,p2={USB_PORTS},p3={USB_PORTS}"]
    command += ["-qmp", f"unix:{folder / 'qmp'},server=on,wait=off"]
    for name in ("agent", "hands"):
        command += ["-chardev", f"socket,id={name},path={folder / name},server=on,wait=off"]
        command += ["-device", f"virtserialport,chardev={name},name={name}"]
    for name in WIRES:
        command += ["-chardev", f"socket,id=wire-{name},path={folder / name},server=on,wait=off"]
        command += ["-chardev", f"socket,id=far-{name},path={folder / name}"]
        command += ["-device", f"virtserialport,chardev=far-{name},name={name}"]
    return command

"""Serial lines and ptys on the event loop: pyserial opens and sets the line; its descriptor is used directly."""

import asyncio
import contextlib
import errno
import fcntl
import os
import stat
import termios
from array import array
from functools import partial
from typing import Final

import serial

from drivers.errors import LinkError, LinkLost, PortForbidden, PortHeld, PortMissing, PortUnusable
from drivers.transports.permissions import forbidden
from drivers.transports.port_users import is_pty, other_holders
from drivers.transports.ports import SerialPort
from drivers.transports.run_blocking import run_blocking, stuck
from drivers.transports.transport import OnData, OnLost

OPEN_TIMEOUT_S: Final = 5.0
CLOSE_TIMEOUT_S: Final = 2.0
READ_BYTES: Final = 65_536
UNSENT_BYTES: Final = 262_144
_TIOCGICOUNT: Final = 0x545D
_COUNTS: Final = 20
_COUNTED: Final = {"line_bad_stop_bits": 6, "line_overruns": 7, "line_bad_parity": 8, "line_buffer_overruns": 10}
"""Where struct serial_icounter_struct of linux/serial.h has them."""
_NO_DEVICE: Final = (errno.ENOENT, errno.ENXIO, errno.ENODEV, errno.ENOTDIR)


async def open_serial(port: SerialPort, on_data: OnData, on_lost: OnLost) -> "SerialTransport":
    """Open a serial line for this process alone, in raw mode. Errors as `open_transport` states."""
    if stuck(port.path):
        raise PortUnusable(
            f"the device driver of {port.path} still hangs in an earlier call: unplug the device and plug it in again"
        )
    try:
        line = await run_blocking(partial(_open, port), port.path, OPEN_TIMEOUT_S, partial(_close, at_once=True))
    except TimeoutError:
        raise PortUnusable(
            f"{port.path} did not open within {OPEN_TIMEOUT_S:.0f} s: unplug the device and plug it in again"
        ) from None
    return SerialTransport(port.path, line, on_data, on_lost)


class SerialTransport:
    """An open line. At most `UNSENT_BYTES` wait while the kernel takes none; with more the link is given up."""

    def __init__(self, path: str, line: serial.Serial, on_data: OnData, on_lost: OnLost) -> None:
        self._path = path
        self._line = line
        self._fd = line.fileno()
        self._on_data = on_data
        self._on_lost = on_lost
        self._unsent = bytearray()
        self._closed_by_user = False
        self._ending: asyncio.Task[None] | None = None
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self._fd, self._readable)

    def write(self, data: bytes) -> None:
        """Queue the bytes; a device that takes none for too long loses the connection."""
        if self._ending is not None or not data:
            return
        if not self._unsent:
            data = data[self._send(data) :]
        if not data or self._ending is not None:
            return
        if len(self._unsent) + len(data) > UNSENT_BYTES:
            self._end(self._lost(f"{len(self._unsent)} bytes wait because the device takes none"))
            return
        if not self._unsent:
            self._loop.add_writer(self._fd, self._writable)
        self._unsent += data

    @property
    def counters(self) -> dict[str, int]:
        """What the line's driver has counted of bytes lost or damaged; empty where it counts nothing or has ended."""
        counts = array("i", bytes(4 * _COUNTS))
        if self._ending is not None:
            return {}
        try:
            fcntl.ioctl(self._fd, _TIOCGICOUNT, counts)
        except OSError:  # ENOTTY, from drivers that do not count
            return {}
        return {name: counts[at] for name, at in _COUNTED.items() if counts[at]}

    async def close(self) -> None:
        """Close the line, and report nothing more."""
        self._closed_by_user = True
        if self._ending is None:
            self._end(None)
        if self._ending is not None:
            await asyncio.shield(self._ending)

    def _readable(self) -> None:
        try:
            data = os.read(self._fd, READ_BYTES)
        except (BlockingIOError, InterruptedError):
            return
        except OSError as error:
            self._end(self._lost(os.strerror(error.errno or 0).lower()))
            return
        if data:
            self._on_data(data)
        else:  # a line that was hung up is readable for ever and yields nothing
            self._end(self._lost("the line was hung up"))

    def _writable(self) -> None:
        del self._unsent[: self._send(bytes(self._unsent[:READ_BYTES]))]
        if not self._unsent and self._ending is None:
            self._loop.remove_writer(self._fd)

    def _send(self, data: bytes) -> int:
        """How many bytes the kernel took."""
        try:
            return os.write(self._fd, data)
        except (BlockingIOError, InterruptedError):
            return 0
        except OSError as error:
            self._end(self._lost(os.strerror(error.errno or 0).lower()))
            return 0

    def _lost(self, why: str) -> LinkLost:
        return LinkLost(f"the connection at {self._path} ended ({why}): check the cable and the power of the device")

    def _end(self, error: LinkError | None) -> None:
        if self._ending is None:
            self._loop.remove_reader(self._fd)
            self._loop.remove_writer(self._fd)
            self._ending = self._loop.create_task(self._let_go(error))

    async def _let_go(self, error: LinkError | None) -> None:
        # The discarding close drops what the device did not take: else close() waits for it, half a minute at worst.
        work = partial(_close, self._line, at_once=error is not None)
        with contextlib.suppress(TimeoutError):  # it goes on closing; `stuck` keeps the next open away until it has
            await run_blocking(work, self._path, CLOSE_TIMEOUT_S, lambda _: None)
        if error is not None and not self._closed_by_user:
            self._on_lost(error)


def _open(port: SerialPort) -> serial.Serial:
    try:
        device = os.stat(port.path)
        if not stat.S_ISCHR(device.st_mode):
            raise PortUnusable(f"{port.path} is no device: correct `port` in the configuration")
        _refuse_if_held(port.path, device, own_fd=None)  # before opening, which would disturb them
        line = _open_line(port)
    except (OSError, termios.error, ValueError) as error:
        raise _link_error(port.path, error) from error
    try:
        _set_line(port, line, device)
        _refuse_if_held(port.path, device, own_fd=line.fileno())
    except BaseException as error:
        _close(line, at_once=True)
        if isinstance(error, (OSError, termios.error)):
            raise _link_error(port.path, error) from error
        raise
    return line


def _open_line(port: SerialPort) -> serial.Serial:
    line = serial.Serial(baudrate=port.baud, timeout=0, write_timeout=0, exclusive=True)
    line.port = port.path
    line.dtr = port.dtr
    line.rts = port.rts
    line.open()
    return line


def _set_line(port: SerialPort, line: serial.Serial, device: os.stat_result) -> None:
    fd = line.fileno()
    settings = termios.tcgetattr(fd)
    settings[0] &= ~termios.BRKINT  # a break would throw away what has arrived
    if not port.hupcl:
        settings[2] &= ~termios.HUPCL
    settings[6][termios.VMIN] = 1  # else "nothing there yet" reads like a hang-up
    termios.tcsetattr(fd, termios.TCSANOW, settings)
    if not is_pty(device):
        # Not on a pty: there it outlives this process as long as the far end has the slave open, and locks us out.
        fcntl.ioctl(fd, termios.TIOCEXCL)
    with contextlib.suppress(ValueError, OSError):  # a wish: drivers without it answer ENOTTY
        line.set_low_latency_mode(True)


def _close(line: serial.Serial, *, at_once: bool) -> None:
    if at_once:
        with contextlib.suppress(OSError, termios.error):  # the device may be gone
            line.reset_output_buffer()
    with contextlib.suppress(OSError):
        fcntl.ioctl(line.fileno(), termios.TIOCNXCL)
    with contextlib.suppress(OSError):  # Linux lets the descriptor go whatever close() reports
        line.close()


def _refuse_if_held(path: str, device: os.stat_result, own_fd: int | None) -> None:
    holders = other_holders(device, own_fd)
    if holders:
        raise PortHeld(f"{path} is held by {holders[0]}: end it, or take the port out of its configuration")


def _link_error(path: str, error: Exception) -> LinkError:
    code = _code(error) or _code(error.__context__)  # pyserial hides what termios said behind its own error
    if code in _NO_DEVICE:
        return PortMissing(
            f"there is no device at {path}: plug it in and switch it on, or correct `port` in the configuration"
        )
    if code in (errno.EACCES, errno.EPERM):
        return PortForbidden(forbidden(path))
    if code in (errno.EBUSY, errno.EAGAIN):
        return PortHeld(_held(path))
    why = os.strerror(code).lower() if code else str(error)
    return PortUnusable(f"{path} cannot be used as a serial line ({why}): correct `port` in the configuration")


def _held(path: str) -> str:
    try:
        holders = other_holders(os.stat(path))
    except OSError:
        holders = ()
    name = str(holders[0]) if holders else f'a process this user cannot see (as root: "fuser -v {path}")'
    return f"{path} is held by {name}: end it, or take the port out of its configuration"


def _code(error: BaseException | None) -> int | None:
    first = error.args[0] if isinstance(error, (OSError, termios.error)) and error.args else None
    return first if isinstance(first, int) else None

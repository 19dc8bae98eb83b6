"""In the guest: what a process may do that runs within the limits of the service. Only the standard library.

`confined.py CGROUP open NODE... | connect ADDRESS... | allocate MEGABYTES`; prints JSON: what became of each try.
"""

import errno
import fcntl
import json
import os
import socket
import struct
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

SIOCSIFADDR: Final = 0x8916
PORT: Final = 9


def outcome(attempt: Callable[[], object]) -> str:
    try:
        attempt()
    except OSError as error:
        return errno.errorcode.get(error.errno or 0, str(error))
    return "done"


def open_and_close(node: str) -> None:
    os.close(os.open(node, os.O_RDWR | os.O_NONBLOCK | os.O_NOCTTY))


def connect(address: str) -> None:
    """A datagram to an address of this machine's own."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.sendto(b"?", (address, PORT))


def add_address(address: str) -> None:
    """A second address of the loopback interface, which no rule about localhost covers."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        name = struct.pack("16sHH4s8x", b"lo:1", socket.AF_INET, 0, socket.inet_aton(address))
        fcntl.ioctl(any_socket, SIOCSIFADDR, name)


def allocate(megabytes: int) -> None:
    held = [bytearray(os.urandom(1) * 1_048_576) for _ in range(megabytes)]
    print(len(held), "MB held")


def main(cgroup: str, what: str, *arguments: str) -> None:
    for address in arguments if what == "connect" else ():
        if not address.startswith("127."):
            add_address(address)
    Path(cgroup, "cgroup.procs").write_text(str(os.getpid()), encoding="ascii")
    if what == "allocate":
        allocate(int(arguments[0]))
        return
    attempt = {"open": open_and_close, "connect": connect}[what]
    print(json.dumps({argument: outcome(partial(attempt, argument)) for argument in arguments}))


if __name__ == "__main__":
    main(*sys.argv[1:])

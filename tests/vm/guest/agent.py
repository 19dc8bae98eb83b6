"""In the guest: run the commands that come over a port of the machine, one at a time, and answer how they ended.

A line `{"run": [...], "timeout_s": n}` is answered by `{"status": n, "out": "...", "err": "..."}`; what was run is
told on the console too, so that the serial log reads as a record. Nothing but the standard library: it starts early.
"""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

PORT: Final = Path("/dev/virtio-ports/agent")
PORT_DEADLINE_S: Final = 60
LOOK_AGAIN_S: Final = 0.1
TIMED_OUT: Final = 124
NOT_FOUND: Final = 127
LONGEST: Final = 200_000


def main() -> None:
    deadline_s = time.monotonic() + PORT_DEADLINE_S
    while not PORT.exists():
        if time.monotonic() > deadline_s:
            sys.exit(f"There is no {PORT}: the machine was started without it.")
        time.sleep(LOOK_AGAIN_S)
    ran = failed = 0
    with PORT.open("r+b", buffering=0) as port:
        say("ready")
        port.write(b'{"ready": true}\n')
        for line in iter(lambda: read_line(port.fileno()), b""):
            request = json.loads(line)
            if "close" in request:
                break
            status, out, err = run(request["run"], request["timeout_s"])
            ran, failed = ran + 1, failed + (status != 0)
            say(f"[{ran}] {' '.join(' '.join(request['run']).split())[:200]} -> {status}")
            if status:
                say(f"{out[-2000:]}{err[-2000:]}")
            answer = {"status": status, "out": out[-LONGEST:], "err": err[-LONGEST:]}
            data = json.dumps(answer).encode() + b"\n"
            while data:
                data = data[port.write(data) :]
        say(f"closed: {ran} commands run, {failed} of them with another status than 0")
        port.write(b'{"closed": true}\n')
    subprocess.run(["/bin/systemctl", "poweroff", "--force", "--force"], check=True)


def read_line(fd: int) -> bytes:
    """b"" at the end, which comes when the other side lets go of the port."""
    line = bytearray()
    while not line.endswith(b"\n"):
        data = os.read(fd, 65_536)
        if not data:
            return b""
        line += data
    return bytes(line)


def run(command: list[str], timeout_s: float) -> tuple[int, str, str]:
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            start_new_session=True,
        )
    except OSError as error:
        return NOT_FOUND, "", f"{command[0]}: {error.strerror}\n"
    try:
        out, err = process.communicate(timeout=timeout_s)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
        return TIMED_OUT, out, f"{err}\nnot ended within {timeout_s} s\n"
    return process.returncode, out, err


def say(text: str) -> None:
    with Path("/dev/console").open("w", encoding="utf-8") as console:
        console.write(f"bench: {text}\n")


if __name__ == "__main__":
    main()

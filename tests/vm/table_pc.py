"""What a technician does at a table PC, done in the machine: install, configure, start, look."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from tests.vm.guest import table_session
from tests.vm.machine import MachineError, VirtualMachine

UNIT: Final = "firmware-bridge.service"
BRIDGE: Final = "/opt/firmware-bridge/bin/firmware-bridge"
CONFIG: Final = "/etc/firmware-bridge/table.toml"
CGROUP: Final = f"/sys/fs/cgroup/system.slice/{UNIT}"
INSTALL: Final = """
PIP=none PYTHON=/usr/bin/python3 PREFIX=/opt/firmware-bridge LIBDIR=/usr/local/lib DESTDIR= /opt/bench/udev/install.sh files
systemd-sysusers
systemd-tmpfiles --create firmware-bridge.conf
udevadm control --reload && udevadm trigger && udevadm settle
(umask 077; od -An -N32 -tx1 /dev/urandom | tr -d ' \\n' > /etc/firmware-bridge/table.key)
systemctl daemon-reload
systemctl enable --quiet firmware-bridge
# As systemd-timesyncd does when a time server has answered, of which there is none in here.
mkdir -p /run/systemd/timesync && touch /run/systemd/timesync/synchronized
"""  # noqa: E501
START_S: Final = 120.0


def install(machine: VirtualMachine) -> None:
    """As udev/README.md says, but for the Python packages, which the machine's image has."""
    machine.shell(INSTALL, timeout_s=START_S)


def start(machine: VirtualMachine, ports: Mapping[str, str], **settings: str) -> None:
    """The service on an empty journal, its machines at these ports by kind. `settings`: lines of the machines' tables,
    by kind.
    """
    devices = "".join(
        f'\n[[device]]\nname = "{kind}"\nkind = "{kind}"\ndriver = "tdp"\nport = "{port}"\n{settings.get(kind, "")}\n'
        for kind, port in ports.items()
    )
    machine.shell(
        f"""
        systemctl stop {UNIT}
        rm -rf /var/lib/firmware-bridge/*
        journalctl --rotate --vacuum-time=1s --quiet
        cp /opt/firmware-bridge/share/table.toml {CONFIG}
        sed -i '/^# `ls/,$ d; s/^deal = .*/&\\nsensors = {"true" if "layout" in ports else "false"}/' {CONFIG}
        cat >> {CONFIG} <<'END'\n{devices}\nEND
        systemctl start {UNIT}
    """,
        timeout_s=START_S,
    )


def said(machine: VirtualMachine) -> list[dict[str, Any]]:
    """The lines of the service since its start."""
    out = machine.check("journalctl", "--unit", UNIT, "--output", "cat", "--no-pager")
    return [json.loads(line) for line in out.splitlines() if line.startswith("{")]


def wait_until_said(machine: VirtualMachine, text: str) -> str:
    """The first line with that text in it; waits for it."""
    try:
        machine.wait_for(f"journalctl --unit {UNIT} --output cat --no-pager | grep -qF -- '{text}'")
    except MachineError:
        told = "\n".join(str(line.get("sentence", line["event"])) for line in said(machine))
        raise MachineError(f'The service did not say "{text}". It said:\n{told}') from None
    return next(str(line["sentence"]) for line in said(machine) if text in str(line.get("sentence")))


def play(
    machine: VirtualMachine, scenario: str, wires: Mapping[str, str], *ask: Sequence[str], clock: bool = False
) -> dict[str, Any]:
    """A scenario's rounds through the running service; the outcome as tests/vm/guest/table_session.py gives it.

    `ask`: commands run with all machines up, before the first round.
    """
    order = json.dumps({"scenario": scenario, "wires": wires, "clock": clock, "ask": ask})
    outcome: dict[str, Any] = machine.python(table_session, order, timeout_s=240.0)
    return outcome

"""The configuration of the real daemon at a bench: the table of a scenario, and the devices that stand there."""

import json
import os
import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from simulator.scenarios.loader import Scenario
from tests.hil.bench.devices import Device

SECRET_BYTES: Final = 32


def write_daemon_files(folder: Path, scenario: Scenario, devices: Sequence[Device]) -> Path:
    """bridge.toml and a table's key in `folder`; every port is recorded in `recordings`, by kind."""
    _secret(folder / "table.key", secrets.token_bytes(SECRET_BYTES))
    lines = ["[table]", 'name = "bench"', f'deal = "{scenario.rig}"', f"decks = {scenario.decks}"]
    lines += [f"seats = {scenario.places}", f"sensors = {str(scenario.sensors).lower()}", ""]
    lines += ["[house]", f"file = {json.dumps(scenario.house)}", ""]
    lines += ["[journal]", 'file = "table.journal"', 'key = "table.key"', ""]
    lines += ["[sockets]", 'control = "control.sock"', 'feed = "feed.sock"']
    for device in devices:
        lines += ["", "[[device]]", f'name = "{device.name}"', f'kind = "{device.name}"', 'driver = "tdp"']
        lines += [f"port = {json.dumps(device.port)}", f'capture = "recordings/{device.name}"']
        if device.claims is not None:
            lines += [f"serial_number = {json.dumps(device.claims.serial_number)}"]
        if device.key_file is not None:
            lines += [f"key = {json.dumps(str(device.key_file))}"]
    config = folder / "bridge.toml"
    config.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return config


def _secret(file: Path, secret: bytes) -> None:
    with open(file, "x", encoding="ascii", opener=lambda path, flags: os.open(path, flags, 0o600)) as written:
        written.write(secret.hex() + "\n")

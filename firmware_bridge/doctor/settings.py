"""The configuration, the house, the drivers and the keys."""

import stat
from collections.abc import Iterator
from pathlib import Path

from drivers.errors import DriverNameError, PortNameError
from drivers.plugins import make_driver
from drivers.sentences import sentence
from drivers.transports.ports import parse_port
from firmware_bridge.config import ConfigError
from firmware_bridge.doctor.context import DoctorContext
from firmware_bridge.doctor.findings import Finding, Health
from firmware_bridge.houses.configured import chosen_house
from firmware_bridge.journal.keys import read_keys
from firmware_bridge.secret_files import KeyFileError


def configuration(context: DoctorContext) -> Iterator[Finding]:
    """Whether the configuration can be read and used."""
    check = "configuration"
    if context.config is None:
        yield Finding(check, Health.WRONG, context.trouble)
        return
    devices = ", ".join(device.name for device in context.config.devices)
    yield Finding(check, Health.OK, f"{context.file} describes the table {context.config.table_name} with {devices}.")
    for device in context.config.devices:
        try:
            parse_port(device.port)
            make_driver(device.driver, device.kind, device.serial_number)
        except (PortNameError, DriverNameError) as error:
            yield Finding(check, Health.WRONG, f"{context.file}: the device {device.name}: {sentence(error)}")


def house(context: DoctorContext) -> Iterator[Finding]:
    """Whether the table's house can be read."""
    if context.config is None:
        yield Finding("house", Health.UNKNOWN, "The house is named in a configuration that cannot be used.")
        return
    try:
        chosen = chosen_house(context.config)
    except ConfigError as error:
        yield Finding("house", Health.WRONG, str(error))
    else:
        yield Finding("house", Health.OK, f"The house {chosen.name} offers what the table has chosen.")


def keys(context: DoctorContext) -> Iterator[Finding]:
    """Whether the journal's key and the devices' keys can be read, by the service alone."""
    if context.config is None:
        yield Finding("keys", Health.UNKNOWN, "The key is named in a configuration that cannot be used.")
        return
    yield _key(context, context.config.journal_key, "the journal", "make it as udev/README.md says")
    for device in context.config.devices:
        if device.key is not None:
            how = f"pair it (firmware-bridge pair {device.name})"
            yield _key(context, Path(device.key), f"the device {device.name}", how)


def _key(context: DoctorContext, named: Path, whose: str, how: str) -> Finding:
    source = context.unit.source_of(named) or named
    handed = "" if source == named else f", which systemd hands to the service as {named}"
    there = context.machine.at(source)
    for_root = Finding("keys", Health.UNKNOWN, f"The key {source} can be looked at by root alone: run this as root.")
    try:
        mode = there.stat().st_mode
    except PermissionError:
        return for_root
    except OSError:
        mend = f"{how}, or bring it back{handed}"
        return Finding("keys", Health.WRONG, f"The key of {whose} is not at {source}: {mend}.")
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        open_to = f"The key {source} is open to other users (mode {stat.S_IMODE(mode):04o})"
        return Finding("keys", Health.WRONG, f"{open_to}: run chmod 600 {source}.")
    try:
        read_keys(there)
    except KeyFileError as error:
        if isinstance(error.__cause__, PermissionError):
            return for_root
        told = sentence(error).replace(str(there), str(source))
        return Finding("keys", Health.WRONG, told[:1].upper() + told[1:])
    return Finding("keys", Health.OK, f"The key of {whose} is {source}{handed}; nobody else may read it.")

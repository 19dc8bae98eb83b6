"""The daemon's configuration: one TOML file, read once at start, every mistake told in a sentence.

Relative paths are relative to the file. An unknown key is a mistake.
"""

import os
import re
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, TypeAlias

import msgspec

from drivers.driver import DeviceKind
from firmware_bridge.core.table_setup import TableSetup

Text: TypeAlias = Annotated[str, msgspec.Meta(min_length=1, pattern=r"^[^\x00-\x1f\x7f]*\Z")]
Name: TypeAlias = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}\Z")]
Model: TypeAlias = Annotated[str, msgspec.Meta(min_length=1)]
Hash: TypeAlias = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-fA-F]*\Z")]

RESERVED_NAMES: Final = frozenset({"operator", "bridge"})
RECORDING: Final = "replay:"
KINDS_OF_RIG: Final = {
    "group": (DeviceKind.SHUFFLER, DeviceKind.SHOE),
    "rotation": (DeviceKind.SHOE,),
}


class ConfigError(Exception):
    """The configuration cannot be used; the text is one sentence with the file, the key and what is allowed."""


class DeviceConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One machine: `port` as "serial:/dev/...", `driver` by its registered name; `serial_number` pins one machine.

    `key`: the file of the key it was paired with; such a device is talked to in authenticated sessions alone.
    `capture`: a folder in which all that passes on the port is recorded, cards included.
    """

    name: Name
    kind: DeviceKind
    driver: Text
    port: Text
    serial_number: Text | None = None
    key: Text | None = None
    capture: Text | None = None


class ApprovedFirmware(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One approved build. `hash` in hexadecimal digits; `version` and `hash` empty for a device that tells none."""

    model: Model
    version: str
    hash: Hash


class TableSection(TableSetup, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[table]`: the table's setup, and its name."""

    name: Name


class HouseSection(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`file`: the name of a house that comes with the project, or a path to one's own."""

    file: Text


class JournalSection(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[journal]`: where the journal and its key lie; relative paths count from the configuration's folder."""

    file: Text
    key: Text


class SocketsSection(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[sockets]`: where the Unix sockets for control and feed are made."""

    control: Text
    feed: Text


class ConfigFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The file as it is written."""

    table: TableSection
    house: HouseSection
    journal: JournalSection
    sockets: SocketsSection
    device: Annotated[tuple[DeviceConfig, ...], msgspec.Meta(min_length=1)]
    approved: tuple[ApprovedFirmware, ...] = ()


@dataclass(frozen=True, slots=True)
class Config:
    """The file as it is used: paths absolute, `house` a built-in house's name or an absolute path."""

    file: Path
    table_name: str
    setup: TableSetup
    house: str
    journal_file: Path
    journal_key: Path
    control_socket: Path
    feed_socket: Path
    devices: tuple[DeviceConfig, ...]
    approved: tuple[ApprovedFirmware, ...] = ()


def load_config(file: Path) -> Config:
    """Read and check `file`. Raises ConfigError."""
    try:
        text = file.read_text(encoding="utf-8-sig")  # some editors put a mark before the first letter
    except FileNotFoundError:
        raise ConfigError(f"There is no configuration file {file}: create it, or name another with --config.") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{file} is not UTF-8 text: save it as UTF-8.") from None
    except OSError as error:
        raise ConfigError(f"{file} cannot be read ({error.strerror}): correct its path or its permissions.") from None
    try:
        tree = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ConfigError(f"{file} is not TOML: {error}.") from None
    written = _convert(file, tree)
    _check_devices(file, written)
    folder = file.resolve().parent
    table = msgspec.structs.asdict(written.table)
    name = table.pop("name")
    paths = [
        folder / text
        for text in (written.journal.file, written.journal.key, written.sockets.control, written.sockets.feed)
    ]
    if not all(path.name for path in paths):
        raise ConfigError(f"{file}: / is no file: name another for the journal, its key or a socket.")
    devices = tuple(_placed(device, folder) for device in written.device)
    all_files = [*map(str, paths), *(device.key for device in devices if device.key is not None)]
    if len({os.path.realpath(path) for path in all_files}) < len(all_files):
        raise ConfigError(
            f"{file}: journal.file, journal.key, sockets.control, sockets.feed and the key of every device must be"
            " files of their own."
        )
    house = written.house.file
    return Config(
        file=file,
        table_name=name,
        setup=TableSetup(**table),
        house=str(folder / house) if "/" in house or house.endswith(".toml") else house,
        journal_file=paths[0],
        journal_key=paths[1],
        control_socket=paths[2],
        feed_socket=paths[3],
        devices=devices,
        approved=written.approved,
    )


def _placed(device: DeviceConfig, folder: Path) -> DeviceConfig:
    """The device with absolute paths."""
    is_recording = device.port.startswith(RECORDING)
    return msgspec.structs.replace(
        device,
        port=f"{RECORDING}{folder / device.port.removeprefix(RECORDING)}" if is_recording else device.port,
        key=None if device.key is None else str(folder / device.key),
        capture=None if device.capture is None else str(folder / device.capture),
    )


def _check_devices(file: Path, written: ConfigFile) -> None:
    devices = written.device
    for key in ("name", "port", "kind"):
        values = [getattr(device, key) for device in devices]
        for position, value in enumerate(values):
            first = values.index(value)
            if first < position:
                shown = value.value if isinstance(value, DeviceKind) else value
                raise ConfigError(
                    f'{file}: device[{position}].{key} "{shown}" is the {key} of device[{first}] too:'
                    f" every device needs a {key} of its own."
                )
    for position, device in enumerate(devices):
        if device.name in RESERVED_NAMES:
            raise ConfigError(
                f'{file}: device[{position}].name "{device.name}" is taken by the daemon: choose another.'
            )
    limits = written.table
    if 0 < limits.maximum < limits.minimum:
        told = f"table.minimum {limits.minimum} is above table.maximum {limits.maximum}"
        raise ConfigError(f"{file}: {told}, so that no wager could be taken: correct one of them.")
    deal = written.table.deal
    needed = [(kind, f'table.deal = "{deal}"') for kind in KINDS_OF_RIG[deal]]
    if written.table.sensors:
        needed.append((DeviceKind.LAYOUT, "table.sensors = true"))
    for kind, why in needed:
        if all(device.kind is not kind for device in devices):
            raise ConfigError(f'{file}: {why} needs a device of kind "{kind.value}": add a [[device]] for it.')
    if not written.table.sensors and any(device.kind is DeviceKind.LAYOUT for device in devices):
        raise ConfigError(
            f'{file}: there is a device of kind "layout", but table.sensors is false:'
            " set it to true, or take the device out."
        )


def _convert(file: Path, tree: dict[str, Any]) -> ConfigFile:
    _refuse_unknown_keys(file, tree, ConfigFile, "")
    try:
        return msgspec.convert(tree, ConfigFile)
    except msgspec.ValidationError as error:
        what, _, where = str(error).partition(" - at `$")
        path = re.sub(r"^\.", "", where.rstrip("`"))
        missing = re.fullmatch(r"Object missing required field `(\w+)`", what)
        if missing:
            key = f"{path}.{missing[1]}" if path else missing[1]
            raise ConfigError(f"{file}: the key {key} is missing; it is {_allowed(key)}.") from None
        raise ConfigError(f"{file}: {path} must be {_allowed(path)} ({_lower(what)}).") from None


def _refuse_unknown_keys(file: Path, tree: object, kind: type, path: str) -> None:
    """Told before any other mistake: a misspelt key makes a missing one."""
    if not isinstance(tree, dict):
        return
    fields = {field.encode_name: field.type for field in msgspec.structs.fields(kind)}
    for key, value in tree.items():
        here = f"{path}.{key}" if path else key
        if key not in fields:
            raise ConfigError(f"{file}: the key {here} is not known; known here: {_listed(fields)}.")
        if key in _SECTIONS:
            _refuse_unknown_keys(file, value, _SECTIONS[key], here)
        elif key in _LISTS and isinstance(value, list):
            for position, one in enumerate(value):
                _refuse_unknown_keys(file, one, _LISTS[key], f"{here}[{position}]")


_SECTIONS: Final[dict[str, type]] = {
    "table": TableSection,
    "house": HouseSection,
    "journal": JournalSection,
    "sockets": SocketsSection,
}
_LISTS: Final[dict[str, type]] = {"device": DeviceConfig, "approved": ApprovedFirmware}


def _allowed(path: str) -> str:
    """What may stand at `path`, in words."""
    info: msgspec.inspect.Type = msgspec.inspect.type_info(ConfigFile)
    last = ""
    for step in re.findall(r"[a-z_]+|\[[^\]]*\]", path):
        info = _inside(info)
        last = step
        if isinstance(info, msgspec.inspect.StructType):
            found = [field.type for field in info.fields if field.encode_name == step]
            if not found:
                return "something else"
            info = found[0]
        elif isinstance(info, msgspec.inspect.VarTupleType):
            info = info.item_type
        elif isinstance(info, msgspec.inspect.DictType):
            info = info.value_type
    info = _inside(info)
    return f"one or more [[{last}]] tables" if isinstance(info, msgspec.inspect.VarTupleType) else _in_words(info)


def _inside(info: msgspec.inspect.Type) -> msgspec.inspect.Type:
    if isinstance(info, msgspec.inspect.UnionType):
        return next(part for part in info.types if not isinstance(part, msgspec.inspect.NoneType))
    return info


def _in_words(info: msgspec.inspect.Type) -> str:
    match info:
        case msgspec.inspect.LiteralType(values=values):
            return _listed(f'"{value}"' for value in values)
        case msgspec.inspect.EnumType(cls=cls):
            return _listed(f'"{member.value}"' for member in cls)
        case msgspec.inspect.IntType(ge=low, le=high):
            if high is not None:
                return f"a whole number from {low} to {high}"
            return "a whole number" if low is None else f"a whole number, {low} or more"
        case msgspec.inspect.BoolType():
            return "true or false"
        case msgspec.inspect.StrType(pattern=pattern):
            return "a text" if pattern is None else _IN_WORDS[pattern]
        case _:
            return "a table of keys"


def _pattern_of(kind: object) -> str:
    info = msgspec.inspect.type_info(kind)
    return info.pattern or "" if isinstance(info, msgspec.inspect.StrType) else ""


_IN_WORDS: Final = {
    _pattern_of(Text): "a text on one line",
    _pattern_of(Name): "a name of letters, digits, dots, dashes and underscores",
    _pattern_of(Hash): "hexadecimal digits",
}


def _listed(words: Iterable[str]) -> str:
    several: Sequence[str] = list(words)
    return several[0] if len(several) == 1 else f"{', '.join(several[:-1])} or {several[-1]}"


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]

"""`firmware-bridge pair DEVICE`: give a device and this host a key that they share with nobody else."""

import asyncio
import sys
from pathlib import Path
from typing import Annotated, Final

import typer

from drivers.errors import LinkError, PortNameError
from drivers.sentences import clause, sentence
from drivers.tdp.host.pairing import Compare, Paired
from drivers.transports.opening import open_transport
from firmware_bridge.cli.errors import CommandError
from firmware_bridge.config import ConfigError, DeviceConfig, load_config
from firmware_bridge.devices.device_keys import Keep, place_for_key
from firmware_bridge.devices.pairing import PairingFailed, pair
from firmware_bridge.doctor.machine import Machine
from firmware_bridge.doctor.unit import installed_unit
from firmware_bridge.secret_files import KeyFileError

WRONG_CONFIG: Final = 2
PAIRING_DRIVER: Final = "tdp"


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("pair")(pair_device)


def pair_device(
    device: Annotated[str, typer.Argument(help="The device, by its name in the configuration.")],
    config: Annotated[Path, typer.Option(help="The configuration, a TOML file.")],
    yes: Annotated[  # noqa: FBT002
        bool, typer.Option("--yes", help="Take the digits for equal: on a bench where nobody else has the wire.")
    ] = False,
) -> None:
    """Pair a device that is in pairing mode, and keep the key in the file that the configuration names.

    The daemon must not run meanwhile, since it has the port. Whoever is between the two ends shows by other digits.
    """
    try:
        wanted = _wanted(config, device)
    except ConfigError as error:
        raise CommandError(str(error), WRONG_CONFIG) from error
    file = _key_file(Path(wanted.key or ""))
    try:
        with place_for_key(file) as keep:
            paired = asyncio.run(pair(wanted, open_transport, _taken if yes else _compared))
            _keep(keep, paired)
    except PortNameError as error:
        raise CommandError(f"{config}: {_sentence(error)}", WRONG_CONFIG) from error
    except (KeyFileError, LinkError, PairingFailed) as error:
        raise CommandError(_sentence(error)) from error
    print(f"Paired: the key of the {_named(paired)} is in {file}; it speaks to no other host from now on.")
    print("A daemon that runs already takes the key when it is started anew.")


def _wanted(config: Path, name: str) -> DeviceConfig:
    """Raises ConfigError."""
    devices = {device.name: device for device in load_config(config).devices}
    if name not in devices:
        raise ConfigError(f'{config}: there is no device "{name}": name one of {", ".join(devices)}.')
    device = devices[name]
    if device.driver != PAIRING_DRIVER:
        raise ConfigError(f'{config}: the device "{name}" has the driver "{device.driver}", which knows no pairing.')
    if device.key is None:
        raise ConfigError(
            f'{config}: the device "{name}" has no key: add a line such as key = "{name}.key" to its [[device]].'
        )
    return device


def _key_file(named: Path) -> Path:
    """Where the key goes: what the service is handed by systemd lies elsewhere, and is a copy."""
    return installed_unit(Machine()).source_of(named) or named


def _keep(keep: Keep, paired: Paired) -> None:
    """Raises CommandError."""
    try:
        keep(paired.key)
    except KeyFileError as error:
        raise CommandError(f"{clause(error)}; the device has a new key already: pair it again.") from error


async def _taken(compare: Compare) -> bool:
    print(_digits(compare.fingerprint))
    return True


async def _compared(compare: Compare) -> bool:
    claims = compare.claims
    print(f"The {claims.kind} ({claims.vendor} {claims.model}, serial number {claims.serial_number}) shows six digits.")
    print(f"Here they are {_digits(compare.fingerprint)}. Compare them, confirm at the device if they are equal,")
    print("and type yes here; anything else declines: ", end="", flush=True)
    return (await _line()).strip().lower() == "yes"


async def _line() -> str:
    """A line that is typed; the end of the input is an empty one, and so is an input that was never there."""
    if sys.stdin is None:
        return ""
    loop = asyncio.get_running_loop()
    typed: asyncio.Future[None] = loop.create_future()

    def there_is_one() -> None:
        if not typed.done():
            typed.set_result(None)

    try:
        loop.add_reader(sys.stdin, there_is_one)
    except PermissionError:  # a plain file is always readable, and no event loop waits for it
        return _typed()
    try:
        await typed
    finally:
        loop.remove_reader(sys.stdin)
    return _typed()


def _typed() -> str:
    return sys.stdin.buffer.readline().decode(errors="replace")


def _digits(fingerprint: str) -> str:
    return f"{fingerprint[:3]} {fingerprint[3:]}"


def _named(paired: Paired) -> str:
    claims = paired.claims
    return f"{claims.kind} ({claims.vendor} {claims.model}, serial number {claims.serial_number})"


def _sentence(error: Exception) -> str:
    text = sentence(error)
    return text[:1].upper() + text[1:]

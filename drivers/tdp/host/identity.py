"""Whether the device that answered is the one configured, in sentences for a person (drivers/tdp/spec.md 8.4, 9)."""

from drivers.driver import Claims, DeviceKind
from drivers.sentences import printable
from drivers.tdp.codec.enums import KindCode
from drivers.tdp.codec.header import MAJOR, MINOR
from drivers.tdp.codec.session_messages import HelloAnswer


def claims_of(answer: HelloAnswer) -> Claims:
    """What the device says of itself in its HELLO_ANSWER."""
    known_hash = any(answer.firmware_hash)
    return Claims(
        kind=kind_name(answer.kind),
        vendor=printable(answer.vendor),
        model=printable(answer.model),
        serial_number=printable(answer.serial_number),
        firmware_version=printable(answer.firmware_version),
        firmware_hash=answer.firmware_hash.hex() if known_hash else "",
        protocol=f"TDP {answer.highest_major}.{answer.minor}",
    )


def kind_name(code: int) -> str:
    """The kind of device in words, of one that this version does not know too."""
    try:
        return KindCode(code).name.lower()
    except ValueError:
        return f"device of unknown kind {code}"


def version_refusal(kind: int, serial_number: str, lowest_major: int, highest_major: int, minor: int) -> str | None:
    """Why the two ends share no version of the protocol, naming both; None where they do."""
    if lowest_major <= MAJOR <= highest_major:
        return None
    lowest = "" if lowest_major == highest_major else f" down to {lowest_major}"
    name = f"{kind_name(kind)} {printable(serial_number)}".strip()
    return (
        f"The {name} speaks TDP {highest_major}.{minor}{lowest}, this host speaks TDP {MAJOR}.{MINOR}: "
        "update the older of the two."
    )


def named(answer: HelloAnswer) -> str:
    """The device in words for a person: kind, model and serial number."""
    found = claims_of(answer)
    return f"{found.kind} ({found.vendor} {found.model}, serial number {found.serial_number})"


def wrong_device(answer: HelloAnswer, kind: DeviceKind, serial_number: str | None) -> str | None:
    """Why this is not the device that is configured; None where it is."""
    found = claims_of(answer)
    name = f"{found.vendor} {found.model}, serial number {found.serial_number}"
    if found.kind != kind.value:
        return (
            f"The port leads to a {found.kind} ({name}) where a {kind.value} is configured: "
            "plug the right device in, or correct the configuration."
        )
    if serial_number is not None and answer.serial_number != serial_number:
        return (
            f"The port leads to a {found.kind} of another serial number ({name}) where {serial_number} is configured: "
            "plug the right device in, or correct the configuration."
        )
    return None

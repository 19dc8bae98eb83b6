"""The list of approved firmware: once there is one, no device with any other is talked to.

What a device says of itself is a claim: the list keeps out what nobody approved, and no device that lies.
"""

from collections.abc import Sequence

from drivers.driver import Claims
from firmware_bridge.config import ApprovedFirmware


def firmware_refusal(claims: Claims, approved: Sequence[ApprovedFirmware]) -> str | None:
    """Why this device's firmware may not be used, in a sentence; None where it may. An empty list allows any."""
    claimed = (claims.model, claims.firmware_version, claims.firmware_hash.lower())
    if not approved or claimed in [(one.model, one.version, one.hash.lower()) for one in approved]:
        return None
    allowed = ", ".join(_build(one.version, one.hash) for one in approved if one.model == claims.model)
    listed = f"approved for this model: {allowed}" if allowed else "no firmware is approved for this model"
    runs = _build(claims.firmware_version, claims.firmware_hash)
    serial = f"serial number {claims.serial_number}" if claims.serial_number else "which tells no serial number"
    return (
        f"The {claims.kind} {claims.vendor} {claims.model}, {serial}, runs firmware"
        f" {runs}, which is not on the list of approved firmware ({listed}):"
        " install approved firmware, or add this one to [[approved]] in the configuration."
    )


def _build(version: str, hash_: str) -> str:
    return f"{version or 'without a version'} ({f'hash {hash_}' if hash_ else 'no hash'})"

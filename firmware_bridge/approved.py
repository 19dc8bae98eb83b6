"""The list of approved firmware: once there is one, no device with any other is talked to.

What a device says of itself is a claim: the list keeps out what nobody approved, and no device that lies.
"""

from collections.abc import Sequence
from typing import Annotated

import msgspec

from drivers.driver import Claims

Text = Annotated[str, msgspec.Meta(min_length=1)]
Hash = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-fA-F]*$")]


class ApprovedFirmware(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One approved build. `hash` in hexadecimal digits; empty for a device that tells none."""

    model: Text
    version: Text
    hash: Hash


def firmware_refusal(claims: Claims, approved: Sequence[ApprovedFirmware]) -> str | None:
    """Why this device's firmware may not be used, in a sentence; None where it may. An empty list allows any."""
    claimed = (claims.model, claims.firmware_version, claims.firmware_hash.lower())
    if not approved or claimed in [(one.model, one.version, one.hash.lower()) for one in approved]:
        return None
    told = f"hash {claims.firmware_hash}" if claims.firmware_hash else "no hash"
    allowed = ", ".join(one.version for one in approved if one.model == claims.model)
    listed = f"approved for this model: {allowed}" if allowed else "no firmware is approved for this model"
    return (
        f"The {claims.kind} {claims.vendor} {claims.model}, serial number {claims.serial_number}, runs firmware"
        f" {claims.firmware_version} ({told}), which is not on the list of approved firmware ({listed}):"
        " install approved firmware, or add this one to [[approved]] in the configuration."
    )

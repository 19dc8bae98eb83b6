"""What can go wrong between a connector and a fact: each class one situation, and what the operator should do.

`str(error)` is one sentence for a person: what happened, where, and what to do next.
"""


class LinkError(Exception):
    """A connection could not be made or was lost. Trying again later may help."""


class PortMissing(LinkError):
    """No such port: the device is unplugged, switched off, or the configuration names another port."""


class PortForbidden(LinkError):
    """The port is there, but this user may not open it: a group or a udev rule is missing."""


class PortHeld(LinkError):
    """Another process has the port open: end it, or take the port out of its configuration."""


class PortAmbiguous(LinkError):
    """Several devices answer to what is configured of one: unplug one, or name it by where it is plugged in."""


class PortUnusable(LinkError):
    """The port was opened but is no serial line, or refuses its settings."""


class LinkLost(LinkError):
    """The connection ended: cable pulled, device switched off, or hung up."""


class PortNameError(ValueError):
    """A port's text in the configuration cannot be read; the sentence shows the forms that can."""


class DriverNameError(ValueError):
    """The configuration names a driver that is not installed; the sentence lists those that are."""

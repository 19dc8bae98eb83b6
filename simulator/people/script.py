"""What a script at the table asks of whoever plays it: the virtual world, or the real-time runner on ptys.

A script is a generator: it does things with its hands (calls into the mechanics), and yields a step where time passes
or somebody else has to do something. The same script runs in both worlds.
"""

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from drivers.driver import DeviceKind

JsonObject: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Pause:
    """`ms` of a brisk dealer's time; the world's pace stretches it, and leaves it out at pace 0."""

    ms: int


@dataclass(frozen=True, slots=True)
class Settled:
    """Everything reported and said so far is acknowledged and applied, and what the daemon told of it is on the screen.

    Devices whose cable is out are not waited for; while one is out, nothing is waited for but acknowledgements.
    """


@dataclass(frozen=True, slots=True)
class Tell:
    """Say a fact at the control door, as JSON; the answer comes back into the script."""

    actor: str
    fact: JsonObject


@dataclass(frozen=True, slots=True)
class Until:
    """Wait until `ready`; `what` names it in the sentence of a wait that takes too long."""

    ready: Callable[[], bool]
    what: str


@dataclass(frozen=True, slots=True)
class Cable:
    """Pull a device's cable out, or put it back in."""

    device: DeviceKind
    plugged: bool


@dataclass(frozen=True, slots=True)
class Power:
    """Switch a device on, and wait until the daemon says that it is up."""

    device: DeviceKind


Step: TypeAlias = Pause | Settled | Tell | Until | Cable | Power
Script: TypeAlias = Generator[Step, JsonObject, None]

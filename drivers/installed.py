"""What a configuration or a command names, found: what comes with the project, then entry points of installed packages.

Nothing is imported before it is asked for.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from drivers.errors import DriverNameError


@dataclass(frozen=True, slots=True)
class Installed:
    """A group of entry points. `ability`: what its drivers can do beyond talking to a device, to be said of none."""

    group: str
    built_in: Mapping[str, str]
    ability: str = ""

    def names(self) -> tuple[str, ...]:
        """Every name that may be used, sorted."""
        return tuple(sorted({*self.built_in, *(point.name for point in entry_points(group=self.group))}))

    def make(self, name: str, *arguments: object) -> Any:
        """What the entry point `name` gives, called with `arguments`.

        Raises DriverNameError where there is none or several, where it cannot be loaded, and what it raises of that
        kind itself.
        """
        point, package = self._find(name)
        try:
            factory: Callable[..., Any] = point.load()
            return factory(*arguments)
        except DriverNameError:
            raise
        except Exception as error:
            raise DriverNameError(
                f'the driver "{name}" of {package} does not load ({type(error).__name__}: {error}): '
                "install that package again, or name another driver"
            ) from error

    def _find(self, name: str) -> tuple[EntryPoint, str]:
        if name in self.built_in:
            return EntryPoint(name, self.built_in[name], self.group), "firmware-bridge"
        points = tuple(entry_points(group=self.group, name=name))
        if not points:
            known = ", ".join(self.names())
            raise DriverNameError(
                f'there is no driver "{name}"{self.ability}: name one of {known}, or install the package that has it'
            )
        if len({point.value for point in points}) > 1:
            packages = " and ".join(sorted(_package(point) for point in points))
            raise DriverNameError(f'the driver "{name}" comes with both {packages}: uninstall all but one')
        return points[0], _package(points[0])


def _package(point: EntryPoint) -> str:
    return point.dist.name if point.dist is not None else point.value

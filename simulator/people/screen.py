"""What people at the table see of the daemon: its feed, as far as a dealer and the floor act on it."""

from dataclasses import dataclass, field

from drivers.facts import Place
from simulator.people.script import JsonObject


@dataclass(frozen=True, slots=True)
class OpenHold:
    """A question that the screen shows as open; `seat` is None for the table."""

    irregularity: str
    seat: Place | None


@dataclass(slots=True)
class Screen:
    """Holds and alarms that wait for somebody, and how the round stands. `events` keeps the whole feed.

    `commands`: those that the daemon wants done and whose end it has not told yet, with the device.
    """

    events: list[JsonObject] = field(default_factory=list)
    holds: list[OpenHold] = field(default_factory=list)
    alarms: list[str] = field(default_factory=list)
    up: set[str] = field(default_factory=set)
    commands: dict[int, str] = field(default_factory=dict)
    round: int = 0
    void: bool = False
    misdealt: set[int] = field(default_factory=set)
    last_seq: int = 0

    def show(self, event: JsonObject) -> None:
        """One event of the feed; a repeat is dropped."""
        if event["seq"] <= self.last_seq:
            return
        self.last_seq = event["seq"]
        self.events.append(event)
        match event["event"]:
            case "round_opened":
                self.round, self.void = event["round"], False
                self.misdealt.clear()
            case "round_void":
                self.void = True
                self.holds.clear()
            case "irregularity":
                if event["ruling"] == "void_seat" and isinstance(event.get("seat"), int):
                    self.misdealt.add(event["seat"])
            case "hold_raised":
                self.holds.append(OpenHold(event["irregularity"], event.get("seat")))
            case "hold_lifted":
                self._lift(event)
            case "alarm_raised":
                self.alarms.append(event["alarm"])
            case "alarm_acknowledged":
                self.alarms = [alarm for alarm in self.alarms if alarm != event["alarm"]]
            case "command_wanted":
                self.commands[event["command_id"]] = event["device"]
            case "command_outcome" if event["outcome"] in ("finished", "refused", "unknown"):
                self.commands.pop(event["command_id"], None)
            case "device_up":
                self.up.add(event["device"])
            case "device_down":
                self.up.discard(event["device"])

    def _lift(self, event: JsonObject) -> None:
        seat = event.get("seat")
        if event.get("ruling") in ("void_seat", "forfeit_seat") and isinstance(seat, int):
            self.misdealt.add(seat)
        self.holds = [hold for hold in self.holds if hold.irregularity != event["irregularity"]]

"""What `make install` and udev/README.md put onto a table PC."""

import re
from collections.abc import Iterator
from typing import Final

from firmware_bridge.doctor.context import DoctorContext
from firmware_bridge.doctor.findings import Finding, Health
from firmware_bridge.doctor.unit import FOLDERS, UNIT

RULES: Final = "70-firmware-bridge.rules"
RULES_FOLDERS: Final = (
    "/etc/udev/rules.d",
    "/run/udev/rules.d",
    "/usr/local/lib/udev/rules.d",
    "/usr/lib/udev/rules.d",
    "/lib/udev/rules.d",
)
_FOR_EVERYBODY: Final = re.compile(r"""^(?!\s*#).*(?:tty|usb).*MODE\s*:?=\s*"0?666\"""", re.MULTILINE)

_ASKED: Final = "ActiveState,UnitFileState,Result,ExecMainStatus,LoadState,NeedDaemonReload"


def users(context: DoctorContext) -> Iterator[Finding]:
    """Whether user and groups of the service are there."""
    machine, unit = context.machine, context.unit
    missing = [f"user {unit.user}"] if machine.user_id(unit.user) is None else []
    missing += [f"group {name}" for name in (unit.group, *unit.more_groups) if machine.group_id(name) is None]
    if missing:
        yield Finding("users", Health.WRONG, f"There is no {' and no '.join(missing)}: run systemd-sysusers.")
    else:
        groups = " and ".join((unit.group, *unit.more_groups))
        yield Finding("users", Health.OK, f"The service runs as {unit.user}, in {groups}.")


def rules(context: DoctorContext) -> Iterator[Finding]:
    """Whether udev's rules are installed, and none opens devices to everybody."""
    installed = [path for path in context.machine.files(RULES_FOLDERS, ".rules") if path.name == RULES]
    if not installed:
        told = f"udev's rules {RULES} are not installed"
        yield Finding("udev rules", Health.WRONG, f"{told}: run make install, then udevadm control --reload.")
    elif not (context.machine.read(context.machine.named(installed[0])) or "").strip():
        hidden = context.machine.named(installed[0])
        yield Finding("udev rules", Health.WRONG, f"The empty file {hidden} hides udev's rules: take it away.")
    else:
        yield Finding("udev rules", Health.OK, f"udev's rules are {context.machine.named(installed[0])}.")
    for path in context.machine.files(RULES_FOLDERS[:1], ".rules"):
        name = context.machine.named(path)
        if _FOR_EVERYBODY.search(context.machine.read(name) or ""):
            told = f"{name} opens devices to everybody (mode 0666)"
            yield Finding("udev rules", Health.WARNING, f'{told}: write GROUP="table-devices", MODE="0660" instead.')


def copies(context: DoctorContext) -> Iterator[Finding]:
    """An own copy in a folder that comes first goes on hiding what a newer version brings."""
    for check, name, folders in (("udev rules", RULES, RULES_FOLDERS), ("service", UNIT, FOLDERS)):
        texts = {f"{folder}/{name}": text for folder in folders if (text := context.machine.read(f"{folder}/{name}"))}
        used = next(iter(texts), "")
        hidden = next((path for path, text in texts.items() if text != texts[used]), None)
        if hidden is not None:
            told = f"{used} hides {hidden}, which says something else"
            what = "put what is your own into a drop-in or a file of another name, and take the copy away"
            yield Finding(check, Health.WARNING, f"{told}: {what}.")


def udev_runs(context: DoctorContext) -> Iterator[Finding]:
    """Without it the rules are only a file."""
    if context.machine.processes("systemd-udevd") or context.machine.processes("udevd"):
        yield Finding("udev", Health.OK, "udev runs.")
    else:
        told = "udev does not run, so that what is plugged in gets neither its group nor a name in /dev/table"
        yield Finding("udev", Health.WRONG, f"{told}: run systemctl start systemd-udevd.")


def unit(context: DoctorContext) -> Iterator[Finding]:
    """Whether the service is installed, enabled and running."""
    check = "service"
    if context.unit.path is None:
        yield Finding(check, Health.WRONG, f"{UNIT} is not installed: run make install.")
        return
    yield Finding(check, Health.OK, f"{UNIT} is installed as {context.unit.path}.")
    shown = context.machine.ask(("systemctl", "show", f"--property={_ASKED}", UNIT))
    states = dict(line.split("=", 1) for line in (shown or "").splitlines() if "=" in line)
    if "ActiveState" not in states:
        yield Finding(check, Health.UNKNOWN, "systemd does not tell how the service stands: run this where it runs.")
        return
    state = states.get("UnitFileState", "")
    if state.startswith("masked"):
        told = "The service is masked, so that nothing can start it"
        what = "run systemctl unmask firmware-bridge, then systemctl enable --now firmware-bridge"
        yield Finding(check, Health.WRONG, f"{told}: {what}.")
        return
    if states.get("NeedDaemonReload") == "yes" or states.get("LoadState") == "not-found":
        told = "systemd has not read the unit as it stands now"
        what = "run systemctl daemon-reload, then systemctl restart firmware-bridge"
        yield Finding(check, Health.WARNING, f"{told}: {what}.")
    if states.get("LoadState") in ("bad-setting", "error"):
        told = f"systemd cannot use the unit ({states['LoadState']})"
        yield Finding(check, Health.WRONG, f"{told}: see systemctl status firmware-bridge, and mend what it names.")
    yield _enabled(state)
    yield _active(states)


def _enabled(state: str) -> Finding:
    if state == "enabled":
        return Finding("service", Health.OK, "The service starts with the machine.")
    told = f"The service does not start with the machine (it is {state or 'not known to systemd'})"
    return Finding("service", Health.WARNING, f"{told}: run systemctl enable firmware-bridge.")


def _active(states: dict[str, str]) -> Finding:
    match states["ActiveState"]:
        case "active":
            return Finding("service", Health.OK, "The service is running.")
        case "failed":
            why = f"{states.get('Result', '')}, status {states.get('ExecMainStatus', '?')}"
            what = (
                "mend what stands above or in journalctl -u firmware-bridge, then run systemctl start firmware-bridge"
            )
            return Finding("service", Health.WRONG, f"The service has failed ({why}): {what}.")
        case "inactive":
            return Finding("service", Health.WARNING, "The service is stopped: run systemctl start firmware-bridge.")
        case state:
            told = f"The service is {state}, perhaps over and over"
            return Finding("service", Health.WARNING, f"{told}: see journalctl -u firmware-bridge.")

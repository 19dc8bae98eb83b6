"""The daemon as a service of a real systemd, installed as udev/README.md says."""

import json
import signal
import stat

import pytest

from tests.service.container import CONFIG, UNIT, Container, wait_for

pytestmark = [pytest.mark.real, pytest.mark.timeout(300), pytest.mark.xdist_group("nspawn")]


def start(container: Container) -> int:
    """Start it; its process id in the container."""
    container.check("systemctl", "start", UNIT)
    return int(container.show("MainPID"))


def restarted(container: Container, before: int) -> int:
    def found() -> int | None:
        now = container.show("MainPID")
        return int(now) if container.show("ActiveState") == "active" and now not in ("0", str(before)) else None

    return wait_for(found, "systemd to start it again")


def lines(container: Container) -> list[dict[str, object]]:
    return [json.loads(line) for line in container.journal().splitlines() if line.startswith("{")]


def test_systemd_finds_nothing_to_say_about_the_unit(container: Container) -> None:
    told = container.run("systemd-analyze", "verify", UNIT)
    assert (told.returncode, told.stdout, told.stderr) == (0, "", "")


def test_the_unit_exposes_little(container: Container) -> None:
    """At most 1.5 of 10: what is left is what serial lines, USB and hotplug need."""
    told = container.run("systemd-analyze", "security", "--offline=yes", "--threshold=15", UNIT)
    assert told.returncode == 0, told.stdout


def test_f49_f50_it_is_ready_with_its_journal_and_without_its_devices(container: Container) -> None:
    """`systemctl start` returns at READY=1: no device is there, and none is waited for."""
    start(container)
    assert container.show("ActiveState") == "active"
    assert (container.root / "var/lib/firmware-bridge/table.journal").exists()
    assert container.show("StatusText").startswith("0 of 2 devices connected")
    assert not container.show("BindsTo")
    status = json.loads(
        container.check("/opt/firmware-bridge/bin/firmware-bridge", "status", "--config", CONFIG, "--json")
    )
    assert {device["link"] for device in status["devices"].values()} == {"waiting"}


def test_f53_its_lines_are_in_the_journal_as_json_with_their_weight(container: Container) -> None:
    start(container)
    wait_for(
        lambda: (
            any(line["event"] == "device_waiting" and line["device"] == "shoe" for line in lines(container)) or None
        ),
        "its lines",
    )
    assert any(line["event"] == "ready" for line in lines(container))
    heavy = container.journal("--priority=warning")
    assert "waiting for the shoe" in heavy
    assert '"ready"' not in heavy
    assert int(container.show("LogRateLimitBurst")) > 0


def test_a_process_killed_is_started_again_on_its_journal(container: Container) -> None:
    first = start(container)
    container.check("kill", "-9", str(first))
    restarted(container, first)
    assert int(container.show("NRestarts")) == 1, container.journal()
    assert [line["event"] for line in lines(container)].count("ready") == 2


def test_f50_a_process_that_hangs_is_ended_by_the_watchdog_and_started_again(container: Container) -> None:
    container.watchdog(3)
    first = start(container)
    container.check("kill", "-STOP", str(first))
    restarted(container, first)
    journal = container.journal()
    assert "Watchdog timeout" in journal
    assert "Fatal Python error: Aborted" in journal  # where it stood, for whoever reads it later
    assert container.run("/bin/sh", "-c", "find /var/lib/systemd/coredump /core* -type f 2>/dev/null").stdout == ""


def test_f50_a_process_that_lives_gives_signs_of_it(container: Container) -> None:
    first = start(container)
    seen = {container.show("WatchdogTimestampMonotonic")}

    def another_two() -> bool | None:
        seen.add(container.show("WatchdogTimestampMonotonic"))
        return True if len(seen) > 2 else None

    wait_for(another_two, "two signs of life")
    assert int(container.show("MainPID")) == first


def test_f52_it_stops_by_itself_within_its_deadline(container: Container) -> None:
    start(container)
    container.check("systemctl", "stop", UNIT)
    assert container.show("Result") == "success"
    assert container.show("ExecMainStatus") == "0"
    assert "Deactivated successfully" in container.journal()
    assert lines(container)[-1]["event"] == "stopped"
    assert not (container.root / "run/firmware-bridge").exists()


def test_f63_a_configuration_that_cannot_be_used_is_a_sentence_and_no_loop(container: Container) -> None:
    container.write(CONFIG, (container.root / CONFIG.lstrip("/")).read_text().replace("[table]", "[tables]"))
    assert container.run("systemctl", "start", UNIT).returncode != 0
    assert container.show("ActiveState") == "failed"
    assert container.show("ExecMainStatus") == "2"
    assert container.show("NRestarts") == "0"
    journal = container.journal()
    assert "the key tables is not known" in journal
    assert "Traceback" not in journal


def test_without_a_key_nothing_starts(container: Container) -> None:
    """systemd names the reason, not the file: that does `firmware-bridge doctor`."""
    key = container.root / "etc/firmware-bridge/table.key"
    aside = key.with_suffix(".aside")
    key.rename(aside)
    try:
        assert container.run("systemctl", "start", UNIT).returncode != 0
        assert "status=243/CREDENTIALS" in container.journal()
    finally:
        aside.rename(key)
        container.run("systemctl", "stop", UNIT)


def test_the_keys_are_shown_to_the_service_alone(container: Container) -> None:
    container.write("/etc/firmware-bridge/device-keys/shoe.key", "6b" * 32, 0o600)
    start(container)
    given = container.root / "run/credentials" / UNIT / "table.key"
    assert given.read_text() == "5a" * 32
    uid = int(container.check("id", "-u", "firmware-bridge"))
    assert (given.stat().st_uid, stat.S_IMODE(given.stat().st_mode)) == (uid, 0o400)
    assert (given.parent / "device-keys_shoe.key").read_text() == "6b" * 32
    nobody = container.run("runuser", "-u", "nobody", "--", "cat", f"/run/credentials/{UNIT}/table.key")
    assert nobody.returncode != 0


def in_the_sandbox(container: Container, pid: int, script: str) -> str:
    """What a Python program prints that sees the service's mounts; as root, whom modes of files do not stop."""
    return container.check("nsenter", "-t", str(pid), "-m", "/opt/firmware-bridge/bin/python", "-c", script)


TRY_TO_WRITE = """
for path in ("/var/lib/firmware-bridge/x", "/run/firmware-bridge/x", "/tmp/x", "/etc/x", "/var/x", "/usr/x", "/opt/x"):
    try:
        open(path, "w").close()
        print("written", path)
    except OSError as error:
        print(error.errno, path)
"""


def test_the_sandbox_leaves_its_own_folders_and_nothing_else_to_write(container: Container) -> None:
    pid = start(container)
    told = in_the_sandbox(container, pid, TRY_TO_WRITE).splitlines()
    written = [line.split()[1] for line in told if line.startswith("written")]
    assert written == ["/var/lib/firmware-bridge/x", "/run/firmware-bridge/x", "/tmp/x"]  # noqa: S108
    assert not (container.root / "tmp/x").exists()
    assert len(told) == 7


def test_f07_f47_the_sandbox_is_in_force_on_the_process_itself(container: Container) -> None:
    pid = start(container)
    status = dict(
        line.split(":\t", 1)
        for line in (container.root / f"proc/{pid}/status").read_text().splitlines()
        if ":\t" in line
    )
    assert int(status["CapEff"], 16) == int(status["CapBnd"], 16) == 0
    assert status["NoNewPrivs"] == "1"
    assert status["Seccomp"] == "2"
    groups = container.check("id", "-g", "firmware-bridge").strip(), _group(container, "table-devices")
    assert set(status["Groups"].split()) == set(groups)
    limits = (container.root / f"proc/{pid}/limits").read_text()
    assert "Max core file size        0                    0" in limits
    assert set(status["Uid"].split()) == {container.check("id", "-u", "firmware-bridge").strip()}


def test_f48_the_service_hears_of_hotplug(container: Container) -> None:
    """The network namespace is the machine's own, and netlink sockets are allowed."""
    pid = start(container)
    own, theirs = (container.check("readlink", f"/proc/{who}/ns/net").strip() for who in ("1", str(pid)))
    assert own == theirs
    assert "AF_NETLINK" in container.show("RestrictAddressFamilies")


def test_its_sockets_are_for_its_group_alone(container: Container) -> None:
    start(container)
    folder = container.root / "run/firmware-bridge"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o750
    assert stat.S_IMODE((folder / "control.sock").stat().st_mode) == 0o660
    other = container.run(
        "runuser",
        "-u",
        "nobody",
        "--",
        "/opt/firmware-bridge/bin/firmware-bridge",
        "status",
        "--control",
        "/run/firmware-bridge/control.sock",
    )
    assert other.returncode == 1
    assert "add the user to the group firmware-bridge" in other.stderr


def _group(container: Container, name: str) -> str:
    return container.check("getent", "group", name).split(":")[2]


def test_signals_are_the_daemons_own(container: Container) -> None:
    """F63: a polite kill from anybody ends it cleanly, and it is started again."""
    first = start(container)
    container.check("kill", f"-{signal.SIGTERM.name.removeprefix('SIG')}", str(first))
    restarted(container, first)
    assert "stopped" in [line["event"] for line in lines(container)]


def test_the_doctor_finds_the_installation_well(container: Container) -> None:
    """Only the machines are missing here, udev's daemon, and a clock to go by."""
    start(container)
    container.check("systemctl", "enable", "--quiet", UNIT)
    told = container.run("/opt/firmware-bridge/bin/firmware-bridge", "doctor", "--config", CONFIG, "--json")
    container.check("systemctl", "disable", "--quiet", UNIT)
    findings = json.loads(told.stdout)["findings"]
    bad = {finding["check"] for finding in findings if finding["health"] not in ("ok", "unknown")}
    assert bad <= {"ports", "clock", "udev"}, told.stdout
    for check in ("users", "udev rules", "service", "journal", "disk", "configuration", "house", "keys"):
        assert check in {finding["check"] for finding in findings}
    assert told.returncode == 2

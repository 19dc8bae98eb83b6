"""The bench suite (tests/hil) as an engineer runs it: on the simulator, on ports with somebody at the terminal, and
where there is nothing to be tested. Each run is a process of its own.
"""

import os
import pty
import re
import signal
import subprocess
from itertools import count
from pathlib import Path

import pytest
from pytest_mock import MockerFixture

from drivers.cards import Card
from drivers.driver import DeviceKind
from drivers.facts import (
    CardDrawn,
)
from simulator.scenarios.loader import scenario_names
from tests.e2e.bench_run import (
    ALL_SIMULATED,
    CARD,
    PROGRAMS,
    PYTEST,
    ROOT,
    ByHand,
    Person,
    at_a_shuffler,
    faulty,
    key_file,
    run_bench,
    simulated,
    with_somebody,
)
from tests.e2e.faulty_firmware import ClockBack
from tests.hil.bench.terminal import Terminal
from tests.hil.bench.waiting import BenchFaultError

pytestmark = [pytest.mark.real, pytest.mark.timeout(600)]

CONTRACT = ("tests/hil/test_contract.py", "tests/hil/test_driver.py", "tests/hil/test_facts.py")


def test_the_contract_holds_on_the_simulator(tmp_path: Path) -> None:
    """Nobody's hands are needed for simulated devices, whether or not somebody is there."""
    done = run_bench(tmp_path, *CONTRACT, *ALL_SIMULATED, "--hands-free")
    assert done.status == 0, done.output
    counts = done.counts()
    assert counts["tests"] >= 3 * 20
    assert (counts["failures"], counts["errors"], counts["skipped"]) == (0, 0, 0)
    assert "Lookout 52" in done.html
    assert "SIM-" in done.html


def test_the_contract_holds_for_paired_devices(tmp_path: Path) -> None:
    """Their rounds are dealt by a daemon that is given the same keys."""
    keys = [f"--key={kind}={key_file(tmp_path, kind)}" for kind in ("shuffler", "shoe")]
    rounds = ("tests/hil/test_paired.py", "tests/hil/test_rounds.py")
    done = run_bench(tmp_path, *CONTRACT, *rounds, *ALL_SIMULATED, *keys, "-k", "not test_round or cable-and-door")
    assert done.status == 0, done.output
    counts = done.counts()
    assert (counts["failures"], counts["errors"]) == (0, 0)
    assert counts["skipped"] == 2, "the layout was never paired"


def test_one_key_of_two_devices_is_refused(tmp_path: Path) -> None:
    key = key_file(tmp_path, "any")
    done = run_bench(tmp_path, "tests/hil", *ALL_SIMULATED, "--key", f"shoe={key}", "--key", f"shuffler={key}")
    assert done.status not in (0, 5)
    assert "have one and the same key" in done.output


def test_a_simulated_device_is_paired_and_tested_with_its_key(tmp_path: Path) -> None:
    """As with a real one: pairing mode, `firmware-bridge pair`, and the key that lies there then."""
    table = tmp_path / "table"
    with subprocess.Popen(
        (PROGRAMS / "table-simulator", "devices", table, "--pairing", "layout"), stdout=subprocess.PIPE, text=True
    ) as holding:
        try:
            assert holding.stdout is not None
            assert "firmware-bridge pair layout" in holding.stdout.readline()
            pair = (PROGRAMS / "firmware-bridge", "pair", "layout", "--yes", "--config", table / "table.toml")
            digits = subprocess.run(pair, capture_output=True, text=True, check=True).stdout.splitlines()[0]
            assert holding.stdout.readline() == f"The layout shows {digits}, and somebody has said yes at it.\n"
            assert holding.stdout.readline() == "The layout is paired.\n"
            device = ("--device", f"layout=serial:{table / 'layout'}", "--key", f"layout={table / 'layout.key'}")
            done = run_bench(tmp_path, "tests/hil/test_paired.py", *device, "--hands-free")
        finally:
            holding.terminate()
    assert done.status == 0, done.output
    assert done.counts() == {"tests": 2, "failures": 0, "errors": 0, "skipped": 0}


def test_a_shoe_with_another_driver_is_held_to_what_every_device_does(tmp_path: Path) -> None:
    """Frames and rounds of TDP are no matter of its; what passed on its port is named by its own driver's words."""
    shoe = ("--device", "shoe=sim", "--driver", "shoe=angel_eye")
    done = run_bench(tmp_path, "tests/hil", *shoe)
    assert done.status == 0, done.output
    assert done.counts()["tests"] - done.counts()["skipped"] == 7
    assert "is about TDP, and the shoe is talked to by the driver angel_eye" in done.output


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("shuffler=sim", "--driver", "shuffler=angel_eye"), "is for a shoe, not for a shuffler"),
        (("shoe=sim", "--driver", "shoe=angel"), '"--driver shoe=angel" cannot be used'),
        (("shoe=sim", "--driver", "angel_eye"), '"--driver angel_eye" cannot be read'),
        (("shoe=sim", "--driver", "shoe=angel_eye_with_stx"), "The simulator has no shoe for the driver"),
    ],
)
def test_a_driver_that_does_not_fit_is_refused(arguments: tuple[str, ...], says: str, tmp_path: Path) -> None:
    done = run_bench(tmp_path, "tests/hil", "--device", *arguments)
    assert done.status not in (0, 5)
    assert says in done.output
    assert "Traceback" not in done.output


def test_every_written_round_is_dealt_on_the_simulator(tmp_path: Path) -> None:
    done = run_bench(tmp_path, "tests/hil/test_rounds.py", *ALL_SIMULATED)
    assert done.status == 0, done.output
    assert done.counts() == {"tests": len(scenario_names()), "failures": 0, "errors": 0, "skipped": 0}


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "No device is named"),
        (("--device", "toaster=sim"), "names no kind of device"),
        (("--device", "shoe"), '"--device shoe" cannot be read'),
        (("--device", "shoe=/dev/ttyACM0"), "serial:/dev/ttyACM0"),
        (("--device", "shoe=replay:old.pcapng"), "is a recording"),
        (("--device", "shoe=sim", "--device", "shoe=sim"), "two devices of the kind shoe"),
        (("--device", "shoe=serial:/dev/x", "--device", "shuffler=serial:/dev/x"), "one and the same port"),
        (("--device", "shoe=serial:/dev/nowhere", "--hands-free"), "There is no shoe to be tested"),
        (("--device", "shoe=serial:/dev/nowhere"), "--hands-free"),
        (("--device", "shoe=sim", "--patience", "nan"), "--patience has to be a number of seconds"),
        (("--device", "shoe=sim", "--key", "shoe=none.key"), "The key of none.key cannot be used"),
        (("--device", "shoe=sim", "--key", "layout=none.key"), "cannot be read"),
        (("--device", "shoe=sim", "--key", "shoe=none.key", "--key", "shoe=none.key"), "none.key cannot be used"),
    ],
)
def test_f70_without_a_device_that_is_really_there_nothing_starts(
    arguments: tuple[str, ...], says: str, tmp_path: Path
) -> None:
    done = run_bench(tmp_path, "tests/hil", *arguments)
    assert done.status not in (0, 5)
    assert says in done.output
    assert "Traceback" not in done.output
    assert "passed" not in done.output


def test_f70_a_device_of_another_kind_is_refused(tmp_path: Path) -> None:
    with simulated(tmp_path, DeviceKind.SHUFFLER) as port:
        done = run_bench(tmp_path, "tests/hil", "--device", f"shoe={port}", "--hands-free")
    assert done.status not in (0, 5)
    assert "leads to a shuffler" in done.output
    assert "Traceback" not in done.output


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_run_that_is_broken_off_leaves_nothing_and_says_so(
    tmp_path_factory: pytest.TempPathFactory, how: signal.Signals
) -> None:
    folder = tmp_path_factory.mktemp("b")
    report = folder / "report"
    with subprocess.Popen(
        (*PYTEST, "tests/hil/test_rounds.py", "-k", "tips or two", *ALL_SIMULATED, "--bench-report", report),
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "TMPDIR": str(folder)},
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        while "PASSED" not in (line := process.stdout.readline()):
            assert line, "it has ended"
        assert "has not ended" in (report / "report.html").read_text(encoding="utf-8")
        process.send_signal(how)
        process.communicate()
    assert process.returncode == 2
    assert re.search(r"The run was broken off: \d+ of \d+ tests were not reached", (report / "report.html").read_text())
    assert list(folder.glob("bench-*")) == []


def test_f70_a_run_that_met_no_device_has_failed(tmp_path: Path) -> None:
    done = run_bench(tmp_path, "tests/hil/test_rounds.py", "--device", "shoe=sim", "--hands-free")
    assert done.status != 0
    assert "nothing was tested" in done.output


def test_what_needs_hands_is_left_out_and_counted(tmp_path: Path) -> None:
    with simulated(tmp_path, DeviceKind.LAYOUT) as port:
        done = run_bench(tmp_path, *CONTRACT, "--device", f"layout={port}", "--hands-free", "-k", "life or says")
    assert done.status == 0, done.output
    assert re.search(r"\d+ not run: needs a person's hands", done.output)
    assert "needs a person" in done.html


@pytest.mark.parametrize("shown", [False, True])
def test_cards_stand_in_the_report_only_where_that_is_asked_for(tmp_path: Path, shown: bool) -> None:  # noqa: FBT001
    with simulated(tmp_path, DeviceKind.SHOE, make=faulty(ClockBack)) as port:
        draws = count(1)

        def draw() -> None:
            port.tell(CardDrawn(at_ms=0, draw=next(draws), card=Card.QUEEN_OF_HEARTS, face="down"))

        arguments = ["--device", f"shoe={port}", "-k", "numbered", *(["--show-cards"] if shown else [])]
        done = with_somebody(tmp_path, Person({"Draw one card": draw}), "tests/hil/test_facts.py", *arguments)
    assert done.status == 1, done.output
    assert "card_drawn" in done.html
    assert bool(CARD.search(done.html)) is shown


def test_a_person_is_told_what_to_do_and_waited_for(tmp_path: Path) -> None:
    with simulated(tmp_path, DeviceKind.SHUFFLER) as port:
        person = at_a_shuffler(port)
        arguments = ("tests/hil/test_facts.py", "--device", f"shuffler={port}")
        done = with_somebody(tmp_path, person, *arguments)
    assert done.status == 0, done.output + person.seen
    assert done.counts()["skipped"] == 0
    assert set(person.done) == set(person.can)


async def test_what_was_typed_before_a_question_is_no_answer_to_it(mocker: MockerFixture) -> None:
    """An Enter too many would say that the next thing was done, too."""
    ours, theirs = pty.openpty()
    mocker.patch("tests.hil.bench.terminal.os.open", return_value=theirs)
    terminal = Terminal()
    try:
        os.write(ours, b"\n\n")
        with pytest.raises(BenchFaultError):
            await terminal.ask("Pull out the cable. Then press Enter.", within_s=0.2)
        assert b"Pull out the cable" in os.read(ours, 1024)
    finally:
        terminal.close()
        os.close(ours)


def test_a_round_is_dealt_by_somebody_at_the_terminal(tmp_path: Path) -> None:
    """The machines stand on ports that are none of the suite's; the cards come as they fall."""
    with simulated(tmp_path, DeviceKind.SHUFFLER, DeviceKind.SHOE) as port:
        person = Person(ByHand(port).can)
        devices = ("--device", f"shuffler={port}", "--device", f"shoe={port.named(DeviceKind.SHOE)}")
        done = with_somebody(
            tmp_path, person, "tests/hil/test_rounds.py", *devices, "-k", "group-clean-unsensed or tips or miscount"
        )
    assert done.status == 0, done.output + person.seen
    assert "1 passed" in done.output
    assert "Deal group 2 to seat 2." in person.seen
    assert "needs a layout on the bench" in done.output


def test_without_devices_the_rest_of_the_suite_does_not_see_it() -> None:
    done = subprocess.run(
        (*PYTEST, "--collect-only", "-q", "tests"),
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "tests/simulator/scenarios/test_loader.py" in done.stdout
    assert not [line for line in done.stdout.splitlines() if line.startswith("tests/hil/")]

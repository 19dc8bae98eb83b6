"""Devices that break the protocol are found by the bench suite (tests/hil), each in one point, and named."""

import html
from pathlib import Path

import pytest

from drivers.driver import DeviceKind
from simulator.firmware.device import Firmware
from simulator.mechanics.table import SimulatedTable
from tests.e2e.bench_run import (
    CARD,
    ByHand,
    Person,
    at_a_shuffler,
    faulty,
    key_file,
    run_bench,
    simulated,
    with_a_small_ring,
    with_somebody,
)
from tests.e2e.faulty_firmware import (
    FAULTS,
    FAULTS_AT_SIGHT,
    FAULTS_BY_HAND,
    FAULTS_OF_PAIRED,
    DoublesDraws,
    StartsAnew,
)
from tests.hil.bench.simulated import fitted

pytestmark = [pytest.mark.real, pytest.mark.timeout(600)]


@pytest.mark.parametrize("fault", FAULTS_AT_SIGHT, ids=lambda fault: fault.__name__)
def test_a_bench_that_is_refused_shows_the_frames_of_the_look_at_it(tmp_path: Path, fault: type[Firmware]) -> None:
    """And the report of an earlier run is not left to be taken for this one's."""
    report = tmp_path / "report"
    report.mkdir()
    for name in ("report.html", "junit.xml"):
        (report / name).write_text("all is well", encoding="ascii")
    with simulated(tmp_path, DeviceKind.SHUFFLER, make=faulty(fault)) as port:
        done = run_bench(tmp_path, "tests/hil", "--device", f"shuffler={port}", "--hands-free")
    assert done.status not in (0, 1, 5)
    for shown in (done.output, done.html):
        assert FAULTS_AT_SIGHT[fault] in html.unescape(shown)
        assert "< HELLO_ANSWER" in html.unescape(shown)
    assert not (report / "junit.xml").exists()


@pytest.mark.parametrize("fault", FAULTS_OF_PAIRED, ids=lambda fault: fault.__name__)
def test_a_paired_device_that_talks_to_others_is_found(tmp_path: Path, fault: type[Firmware]) -> None:
    key = key_file(tmp_path, "shoe")

    def make(table: SimulatedTable, kind: DeviceKind, power_up: int) -> Firmware:
        firmware = faulty(fault)(table, kind, power_up)
        firmware.guard.key = bytes.fromhex(key.read_text())
        return firmware

    with simulated(tmp_path, DeviceKind.SHOE, make=make) as port:
        arguments = ("tests/hil/test_paired.py", "--device", f"shoe={port}", "--key", f"shoe={key}", "--hands-free")
        done = run_bench(tmp_path, *arguments, "-k", FAULTS_OF_PAIRED[fault])
    assert done.status == 1, done.output
    assert done.counts() == {"tests": 1, "failures": 1, "errors": 0, "skipped": 0}
    assert key.read_text().strip() not in done.html + done.output


def test_a_bench_that_failed_is_not_tried_again(tmp_path: Path) -> None:
    with simulated(tmp_path, DeviceKind.SHUFFLER, make=with_a_small_ring) as port:
        devices = ("--device", f"shuffler={port}", "--device", "shoe=sim")
        done = run_bench(
            tmp_path, "tests/hil/test_contract.py", *devices, "--hands-free", "-k", "says or ping or major"
        )
    assert done.status == 1
    counts = done.counts()
    assert counts["failures"] == 1
    assert counts["skipped"] == 3, "the other tests of the shuffler"
    assert counts["tests"] == 8, "those of the shoe are not touched by it"
    assert "not run: the bench has failed with the shuffler at test_it_says_what_it_is[shuffler]" in done.output
    assert "HELLO_ANSWER" in done.html
    assert "first sequence" in done.html


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_a_device_that_breaks_the_protocol_is_found(tmp_path: Path, fault: type[Firmware]) -> None:
    with simulated(tmp_path, DeviceKind.SHUFFLER, make=faulty(fault)) as port:
        check = FAULTS[fault]
        device = ("--device", f"shuffler={port}", "--hands-free")
        done = run_bench(tmp_path, f"tests/hil/test_contract.py::{check}[shuffler]", *device)
    assert done.status == 1, done.output
    assert done.counts() == {"tests": 1, "failures": 1, "errors": 0, "skipped": 0}


@pytest.mark.parametrize("fault", FAULTS_BY_HAND, ids=lambda fault: fault.__name__)
def test_a_device_that_breaks_the_protocol_in_somebodys_hands_is_found(tmp_path: Path, fault: type[Firmware]) -> None:
    with simulated(tmp_path, DeviceKind.SHUFFLER, make=faulty(fault)) as port:
        arguments = (f"tests/hil/test_facts.py::{FAULTS_BY_HAND[fault]}[shuffler]", "--device", f"shuffler={port}")
        done = with_somebody(tmp_path, at_a_shuffler(port), *arguments, "--patience", "5")
    assert done.status == 1, done.output
    assert done.counts() == {"tests": 1, "failures": 1, "errors": 0, "skipped": 0}
    assert "HELLO_ANSWER" in done.html


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        (DoublesDraws, "the daemon refused card_drawn of the shoe: draw 4 was told already"),
        (StartsAnew, "the shuffler was lost though nobody pulled its cable"),
    ],
)
def test_a_round_fails_at_once_at_what_no_device_may_do(tmp_path: Path, fault: type[Firmware], says: str) -> None:
    faulty_kind = DeviceKind.SHOE if fault is DoublesDraws else DeviceKind.SHUFFLER

    def make(table: SimulatedTable, kind: DeviceKind, power_up: int) -> Firmware:
        return (faulty(fault) if kind is faulty_kind else fitted)(table, kind, power_up)

    with simulated(tmp_path, DeviceKind.SHUFFLER, DeviceKind.SHOE, make=make) as port:
        devices = ("--device", f"shuffler={port}", "--device", f"shoe={port.named(DeviceKind.SHOE)}")
        done = with_somebody(
            tmp_path, Person(ByHand(port).can), "tests/hil/test_rounds.py", *devices, "-k", "group-clean-unsensed"
        )
    assert done.status == 1, done.output
    assert says in done.output
    assert "FACT seq" in done.html
    assert "round_opened" in done.html, "what the daemon told"
    assert not CARD.search(done.html)

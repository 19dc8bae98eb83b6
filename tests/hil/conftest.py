"""Hardware in the loop: `pytest tests/hil --device KIND=PORT` tests the devices on a bench (README.md beside this).

Without `--device` nothing of this folder is collected when other tests are run, and it refuses when it is named.
"""

import asyncio
import inspect
import signal
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Generator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import pytest

from drivers.driver import DeviceKind
from simulator.scenarios.loader import load_scenario, scenario_names
from tests.hil.bench.bench import Bench, open_bench, rest
from tests.hil.bench.devices import TDP, BenchRefusedError, Device, read_devices
from tests.hil.bench.frames import FrameLog
from tests.hil.bench.instructions import beyond_hands, kinds_of
from tests.hil.bench.report import Outcome, html_report
from tests.hil.bench.terminal import NobodyThereError
from tests.hil.bench.wire import Wire

HERE: Final = Path(__file__).resolve().parent
BENCH: Final = pytest.StashKey[Bench]()
LOG: Final = pytest.StashKey[FrameLog]()
OUTCOMES: Final = pytest.StashKey[list[Outcome]]()
BEGAN: Final = pytest.StashKey[datetime]()
FOLDER: Final = pytest.StashKey[tempfile.TemporaryDirectory[str]]()
LONGEST_PATIENCE_S: Final = 86_400
NOT_ENDED: Final = "This run has not ended: it is under way, or was broken off before it could write its report."
LOOK: Final = "Before anything is tested every device has to be there, be what it is said to be, and be at rest."
NOTHING_TESTED: Final = "No test had an answer from any device of the bench: nothing was tested."
HANDS_FREE: Final = "needs a person's hands (--hands-free)"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("bench", "devices on a bench (tests/hil)")
    group.addoption("--device", action="append", default=[], dest="bench_devices", metavar="KIND=PORT",
                    help="a device: shuffler, shoe or layout, and its port or sim; once for each")  # fmt: skip
    group.addoption("--key", action="append", default=[], dest="bench_keys", metavar="KIND=FILE",
                    help="the key of a paired device")  # fmt: skip
    group.addoption("--driver", action="append", default=[], dest="bench_drivers", metavar="KIND=NAME",
                    help="the driver of a device that does not speak TDP, as the configuration names it")  # fmt: skip
    group.addoption("--hands-free", action="store_true", dest="bench_hands_free",
                    help="leave out what a person has to do something for")  # fmt: skip
    group.addoption("--show-cards", action="store_true", dest="bench_show_cards",
                    help="write out in the report which cards were read")  # fmt: skip
    group.addoption("--patience", type=float, default=120.0, dest="bench_patience_s", metavar="SECONDS",
                    help="how long to wait for a person's hands")  # fmt: skip
    group.addoption("--bench-report", type=Path, default=Path("bench-report"), dest="bench_report", metavar="FOLDER",
                    help="where report.html and junit.xml are written")  # fmt: skip


def is_bench_run(config: pytest.Config) -> bool:
    """Whether this folder, or something in it, was named on the command line."""
    named = (config.invocation_params.dir / argument.partition("::")[0] for argument in config.args)
    return any(path.resolve().is_relative_to(HERE) for path in named)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    return None if is_bench_run(config) else True


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    if not is_bench_run(config):
        return
    config.addinivalue_line("markers", "hands: needs somebody to do something at the bench")
    config.addinivalue_line("markers", "any_driver: of every device, whatever it speaks")
    if getattr(config.option, "numprocesses", None):
        raise pytest.UsageError("A bench is tested by one process, one test after the other: run this without -n.")
    if getattr(config.option, "reruns", None):
        raise pytest.UsageError("A bench that failed is not tried again: run this without --reruns.")
    if not 0 < config.option.bench_patience_s < LONGEST_PATIENCE_S:
        raise pytest.UsageError("--patience has to be a number of seconds above 0, and below a day.")
    folder = tempfile.TemporaryDirectory(prefix="bench-")
    config.stash[FOLDER] = folder
    config.add_cleanup(folder.cleanup)
    option = config.option
    if option.collectonly:
        return
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)  # as Ctrl-C: nothing is left behind
    if option.tbstyle == "auto":
        option.tbstyle = "short"
    if option.verbose == 0:
        option.verbose = 1
    try:
        devices = read_devices(option.bench_devices, option.bench_keys, Path(folder.name), option.bench_drivers)
        bench = open_bench(
            devices, Path(folder.name), patience_s=option.bench_patience_s, hands_free=option.bench_hands_free
        )
    except (BenchRefusedError, NobodyThereError) as refused:
        raise pytest.UsageError(str(refused)) from None
    config.add_cleanup(bench.close)
    config.stash[OUTCOMES] = []
    config.stash[BEGAN] = datetime.now(UTC)
    report: Path = option.bench_report
    try:
        report.mkdir(parents=True, exist_ok=True)
        (report / "junit.xml").unlink(missing_ok=True)
        (report / "report.html").write_text(html_report(config.stash[BEGAN], devices, [], [NOT_ENDED]), "utf-8")
    except OSError as error:
        raise pytest.UsageError(
            f"No report can be written to {report} ({error.strerror}): name another folder."
        ) from None
    config.stash[BENCH] = bench
    if option.xmlpath is None:
        option.xmlpath = str(report / "junit.xml")


def pytest_sessionstart(session: pytest.Session) -> None:
    """The bench is looked at before anything is tested on it; what is not fit is refused in a sentence."""
    bench = session.config.stash.get(BENCH, None)
    if bench is None:
        return
    log = new_log(session.config)

    async def look() -> None:
        for device in bench.devices.values():
            await bench.look(device, log)

    try:
        asyncio.run(look())
    except BenchRefusedError as refused:
        sections = list(log.sections())
        session.config.stash[OUTCOMES].append(Outcome("the bench", "failed", 0.0, str(refused), LOOK, sections))
        write_report(session.config)
        shown = [f"{heading}\n" + "\n".join(lines) for heading, lines in sections]
        raise pytest.UsageError("\n\n".join([str(refused), *shown])) from None


def pytest_report_header(config: pytest.Config) -> list[str]:
    bench = config.stash.get(BENCH, None)
    return [] if bench is None else [f"bench: {in_words(device)}" for device in bench.devices.values()]


def in_words(device: Device) -> str:
    claims = device.claims
    where = f"{device.name} at {'the simulator' if device.simulated else device.port}"
    if claims is None:
        return f"{where}: not looked at"
    told = (("serial number", claims.serial_number), ("firmware", claims.firmware_version))
    more = "".join(f", {what} {value}" for what, value in told if value)
    return f"{where}: {claims.vendor} {claims.model}{more}, {claims.protocol}"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    bench = metafunc.config.stash.get(BENCH, None)
    kinds = list(DeviceKind) if bench is None else list(bench.devices)
    if "kind" in metafunc.fixturenames:
        metafunc.parametrize("kind", kinds, ids=[kind.value for kind in kinds])
    if "scenario_name" in metafunc.fixturenames:
        metafunc.parametrize("scenario_name", scenario_names())


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skips what the bench, or the person who is not there, cannot do; and everything of a device that has failed."""
    bench = item.config.stash[BENCH]
    kinds = kinds_of_item(item)
    broken = next((bench.broken[kind] for kind in kinds if kind in bench.broken), None)
    if broken is not None:
        pytest.skip(broken)
    missing = [kind.value for kind in kinds if kind not in bench.devices]
    if missing:
        pytest.skip(f"needs a {' and a '.join(missing)} on the bench")
    foreign = next((bench.devices[kind] for kind in kinds if bench.devices[kind].driver != TDP), None)
    if foreign is not None and item.get_closest_marker("any_driver") is None:
        pytest.skip(f"is about TDP, and the {foreign.name} is talked to by the driver {foreign.driver}")
    real = [bench.devices[kind] for kind in kinds if not bench.devices[kind].simulated]
    if real and item.get_closest_marker("hands") is not None and item.config.option.bench_hands_free:
        pytest.skip(HANDS_FREE)
    name = scenario_of_item(item)
    if real and name is not None and (incident := beyond_hands(load_scenario(name))) is not None:
        pytest.skip(f"has an incident that no hand can make ({incident})")


def kinds_of_item(item: pytest.Item) -> tuple[DeviceKind, ...]:
    """The devices that the test needs."""
    kind = params_of(item).get("kind")
    if isinstance(kind, DeviceKind):
        return (kind,)
    name = scenario_of_item(item)
    return () if name is None else kinds_of(load_scenario(name))


def scenario_of_item(item: pytest.Item) -> str | None:
    name = params_of(item).get("scenario_name")
    return name if isinstance(name, str) else None


def params_of(item: pytest.Item) -> Mapping[str, object]:
    return item.callspec.params if isinstance(item, pytest.Function) and hasattr(item, "callspec") else {}


@pytest.fixture
def bench(pytestconfig: pytest.Config) -> Bench:
    return pytestconfig.stash[BENCH]


def new_log(config: pytest.Config) -> FrameLog:
    devices = config.stash[BENCH].devices.values()
    others = {device.name: device.driver for device in devices if device.driver != TDP}
    return FrameLog(cards=config.option.bench_show_cards, drivers=others)


@pytest.fixture
def log(request: pytest.FixtureRequest) -> FrameLog:
    """All frames of this test, for the report if it fails."""
    log = new_log(request.config)
    request.node.stash[LOG] = log
    return log


@pytest.fixture
async def wire(bench: Bench, kind: DeviceKind, log: FrameLog) -> AsyncIterator[Wire]:
    """A connection to a device that is at rest, and is the one that was found when the bench was looked at."""
    async with Wire(bench.devices[kind], log) as wire:
        await rest(wire)
        answer = await wire.hello()
        claims = bench.devices[kind].claims
        assert claims is not None
        assert answer.serial_number == claims.serial_number, "another device has been plugged in"
        bench.talked.add(kind)
        yield wire


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    """A test whose frames were not all what the specification allows has failed, whatever it was about."""
    yield
    log = item.stash.get(LOG, None)
    if log is not None and log.objections:
        pytest.fail("\n".join(log.objections), pytrace=False)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    bench = item.config.stash[BENCH]
    outcomes = item.config.stash[OUTCOMES]
    if report.failed:
        for kind in kinds_of_item(item):
            bench.broken.setdefault(kind, f"not run: the bench has failed with the {kind.value} at {item.name}")
        log = item.stash.get(LOG, None)
        sections = [] if log is None else list(log.sections())
        says = says_of_item(item)
        report.sections += [("What is tested", says)] + [(heading, "\n".join(lines)) for heading, lines in sections]
        outcomes.append(Outcome(item.name, "failed", report.duration, report.longreprtext, says, sections))
    elif report.skipped:
        why = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        outcomes.append(Outcome(item.name, "notrun", report.duration, why.removeprefix("Skipped: ")))
    elif report.when == "call":
        outcomes.append(Outcome(item.name, "passed", report.duration))
    return report


def says_of_item(item: pytest.Item) -> str:
    """What the test is about, in words."""
    name = scenario_of_item(item)
    if name is not None:
        scenario = load_scenario(name)
        return f"{scenario.title}. {scenario.says}"
    says = inspect.getdoc(item.function) if isinstance(item, pytest.Function) else None
    return f"{says or ''} [numbers in brackets: sections of drivers/tdp/spec.md]"


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """A run that met no device is a failure, whatever its tests say; and the report is written."""
    config = session.config
    bench = config.stash.get(BENCH, None)
    if bench is None:
        return
    if exitstatus == pytest.ExitCode.OK and not bench.talked:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
    unreached = session.testscollected - len({outcome.name for outcome in config.stash[OUTCOMES]})
    broken_off = f"The run was broken off: {unreached} of {session.testscollected} tests were not reached."
    write_report(config, *([broken_off] if exitstatus == pytest.ExitCode.INTERRUPTED else []))


def write_report(config: pytest.Config, *more: str) -> None:
    file: Path = config.option.bench_report / "report.html"
    devices, outcomes = config.stash[BENCH].devices.values(), config.stash[OUTCOMES]
    lines = [*more, *closing_lines(config)]
    file.write_text(html_report(config.stash[BEGAN], devices, outcomes, lines), encoding="utf-8")


def closing_lines(config: pytest.Config) -> list[str]:
    bench = config.stash[BENCH]
    not_run = Counter(outcome.why for outcome in config.stash[OUTCOMES] if outcome.result == "notrun")
    lines = [f"{count} not run: {why.removeprefix('not run: ')}" for why, count in not_run.items()]
    return lines if bench.talked else [*lines, NOTHING_TESTED]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if config.stash.get(BENCH, None) is None:
        return
    terminalreporter.section("bench")
    for line in closing_lines(config):
        terminalreporter.line(line)
    terminalreporter.line(f"report: {config.option.bench_report / 'report.html'} and {config.option.xmlpath}")

"""The written rounds of simulator/scenarios, dealt at the devices of the bench through the real daemon."""

from pathlib import Path

import pytest

from simulator.scenarios.loader import load_scenario
from tests.hil.bench.bench import Bench
from tests.hil.bench.dealing import Dealing
from tests.hil.bench.frames import FrameLog

pytestmark = [pytest.mark.hands, pytest.mark.timeout(0)]


async def test_round(bench: Bench, log: FrameLog, scenario_name: str, tmp_path: Path) -> None:
    scenario = load_scenario(scenario_name)
    dealing = Dealing(bench, scenario, tmp_path)
    for kind in dealing.kinds:
        await bench.bring_to_rest(kind, log)
    if bench.terminal is not None:
        bench.terminal.say(f"\n{scenario.title}. {scenario.says}")
    try:
        async with dealing:
            wrong = await dealing.play()
    finally:
        log.notes |= dealing.notes()
        for kind, reported in dealing.reported.items():
            log.add_recordings(kind.value, reported.files)
    if wrong:
        pytest.fail("\n".join(wrong), pytrace=False)

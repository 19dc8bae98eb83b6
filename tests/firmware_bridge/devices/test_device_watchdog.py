import asyncio

from firmware_bridge.devices.device_watchdog import DeviceWatchdog
from tests.drivers.transports.ends.pty_end import until


class Told:
    def __init__(self, silent_s: float) -> None:
        self.asked = 0
        self.silences = 0
        self.watchdog = DeviceWatchdog(silent_s, self.ask, self.fall_silent)

    def ask(self) -> None:
        self.asked += 1

    def fall_silent(self) -> None:
        assert self.asked > 0
        self.silences += 1


async def test_a_silent_device_is_asked_first_and_told_of_once() -> None:
    told = Told(0.01)
    told.watchdog.start()
    await until(lambda: told.silences == 1)
    asked = told.asked
    await until(lambda: told.asked > asked + 2)
    assert told.silences == 1
    told.watchdog.heard()
    await until(lambda: told.silences == 2)
    told.watchdog.stop()


async def test_a_device_that_answers_is_not_told_of() -> None:
    told = Told(0.2)
    watchdog = DeviceWatchdog(0.2, lambda: watchdog.heard(), told.fall_silent)
    watchdog.start()
    await asyncio.sleep(0.5)
    watchdog.stop()
    assert told.silences == 0


async def test_a_stopped_watchdog_does_nothing_more() -> None:
    told = Told(0.002)
    told.watchdog.start()
    told.watchdog.stop()
    await asyncio.sleep(0.02)
    assert (told.asked, told.silences) == (0, 0)

from importlib.metadata import EntryPoint

import pytest
from pytest_mock import MockerFixture

from drivers import plugins
from drivers.driver import DeviceKind
from drivers.errors import DriverNameError
from drivers.plugins import DRIVERS, make_driver, open_recording


def refuse_kind(kind: DeviceKind, serial_number: str | None) -> object:
    raise DriverNameError(f"it knows no {kind.value}")


class Reader:
    pass


def tell(kind: DeviceKind, serial_number: str | None) -> object:
    return (kind, serial_number)


def install(mocker: MockerFixture, *points: EntryPoint) -> None:
    def entry_points(*, group: str, name: str | None = None) -> tuple[EntryPoint, ...]:
        return tuple(point for point in points if point.group == group and name in (None, point.name))

    mocker.patch.object(plugins, "entry_points", entry_points)


def point(name: str, value: str) -> EntryPoint:
    return EntryPoint(name, value, "firmware_bridge.drivers")


def test_an_installed_driver_is_called_with_what_the_configuration_says(mocker: MockerFixture) -> None:
    install(mocker, point("acme", f"{__name__}:tell"))
    assert make_driver("acme", DeviceKind.SHOE, "S-1") == (DeviceKind.SHOE, "S-1")  # type: ignore[comparison-overlap]


def test_nothing_is_loaded_before_it_is_asked_for(mocker: MockerFixture) -> None:
    install(mocker, point("broken", "no_such_package:Driver"), point("acme", f"{__name__}:tell"))
    assert DRIVERS.names() == ("acme", "angel_eye", "angel_eye_with_stx", "broken", "tdp")
    make_driver("acme", DeviceKind.SHOE, None)


def test_an_unknown_name_is_answered_with_those_there_are(mocker: MockerFixture) -> None:
    install(mocker, point("acme", f"{__name__}:tell"))
    names = "acme, angel_eye, angel_eye_with_stx, tdp"
    with pytest.raises(DriverNameError, match=f'no driver "tpd": name one of {names}, or install'):
        make_driver("tpd", DeviceKind.SHOE, None)


@pytest.mark.parametrize("value", ["no_such_package:Driver", f"{__name__}:no_such_name", "decimal:Decimal"])
def test_a_driver_that_does_not_load_is_named(mocker: MockerFixture, value: str) -> None:
    install(mocker, point("broken", value))
    with pytest.raises(DriverNameError, match=r'driver "broken" of .* does not load'):
        make_driver("broken", DeviceKind.SHOE, None)


def test_what_a_driver_says_about_its_kind_is_told_as_it_is(mocker: MockerFixture) -> None:
    install(mocker, point("acme", f"{__name__}:refuse_kind"))
    with pytest.raises(DriverNameError, match=r"^it knows no layout$"):
        make_driver("acme", DeviceKind.LAYOUT, None)


def test_two_packages_with_one_name_are_refused(mocker: MockerFixture) -> None:
    install(mocker, point("acme", "one.package:Driver"), point("acme", "another.package:Driver"))
    with pytest.raises(DriverNameError, match=r"comes with both another\.package:Driver and one\.package:Driver"):
        make_driver("acme", DeviceKind.SHOE, None)


def test_no_package_takes_a_built_in_name(mocker: MockerFixture) -> None:
    install(mocker, point("tdp", f"{__name__}:tell"))
    mocker.patch.dict(DRIVERS.built_in, {"tdp": f"{__name__}:refuse_kind"})
    with pytest.raises(DriverNameError, match="it knows no shoe"):
        make_driver("tdp", DeviceKind.SHOE, None)


def test_readers_of_recordings_are_found_in_the_same_way(mocker: MockerFixture) -> None:
    own = EntryPoint("acme", f"{__name__}:Reader", "firmware_bridge.recordings")
    install(mocker, own, point("other", f"{__name__}:tell"))
    assert type(open_recording("acme")) is Reader  # type: ignore[comparison-overlap]
    with pytest.raises(DriverNameError, match='no driver "other" that reads recordings: name one of acme, angel_eye,'):
        open_recording("other")
    install(mocker, own, EntryPoint("acme", "another.package:Reader", "firmware_bridge.recordings"))
    with pytest.raises(DriverNameError, match=r"comes with both another\.package:Reader and "):
        open_recording("acme")

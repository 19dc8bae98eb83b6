"""The configuration: what is right is read, what is wrong is told with the file, the key and what is allowed."""

from pathlib import Path

import pytest

from drivers.driver import DeviceKind
from firmware_bridge.config import ApprovedFirmware, Config, ConfigError, load_config

GOOD = """
[table]
name = "pit-3"
deal = "group"
seats = 6
sensors = true

[house]
file = "licensed"

[journal]
file = "data/table.journal"
key = "/etc/keys/table.key"

[sockets]
control = "control.sock"
feed = "feed.sock"

[[device]]
name = "shuffler"
kind = "shuffler"
driver = "tdp"
port = "serial:/dev/ttyS1"

[[device]]
name = "shoe-left"
kind = "shoe"
driver = "tdp"
port = "serial:/dev/ttyS2"
serial_number = "SH-77"
key = "shoe.key"

[[device]]
name = "strip"
kind = "layout"
driver = "tdp"
port = "serial:/dev/ttyS3"
"""


def load(tmp_path: Path, text: str) -> Config:
    file = tmp_path / "table.toml"
    file.write_text(text)
    return load_config(file)


def test_a_good_file_is_read_and_its_paths_are_relative_to_it(tmp_path: Path) -> None:
    config = load(tmp_path, GOOD)
    assert config.table_name == "pit-3"
    assert (config.setup.deal, config.setup.seats, config.setup.sensors) == ("group", 6, True)
    assert config.house == "licensed"
    assert config.journal_file == tmp_path / "data/table.journal"
    assert config.journal_key == Path("/etc/keys/table.key")
    assert config.control_socket == tmp_path / "control.sock"
    assert [device.kind for device in config.devices] == [DeviceKind.SHUFFLER, DeviceKind.SHOE, DeviceKind.LAYOUT]
    assert config.devices[1].serial_number == "SH-77"
    assert [device.key for device in config.devices] == [None, str(tmp_path / "shoe.key"), None]


def test_recordings_and_the_folders_for_them_are_relative_to_the_file(tmp_path: Path) -> None:
    text = GOOD.replace("serial:/dev/ttyS2", "replay:records/shoe.pcapng")
    config = load(tmp_path, text.replace('name = "strip"', 'name = "strip"\ncapture = "records"'))
    assert [device.capture for device in config.devices] == [None, None, str(tmp_path / "records")]
    assert config.devices[1].port == f"replay:{tmp_path}/records/shoe.pcapng"


def test_approved_firmware_is_a_list(tmp_path: Path) -> None:
    assert load(tmp_path, GOOD).approved == ()
    one = '[[approved]]\nmodel = "Lookout 52"\nversion = "1.0.0"\nhash = "Ab01"\n'
    assert load(tmp_path, GOOD + one + one.replace("Ab01", "")).approved == (
        ApprovedFirmware(model="Lookout 52", version="1.0.0", hash="Ab01"),
        ApprovedFirmware(model="Lookout 52", version="1.0.0", hash=""),
    )


def test_a_house_of_ones_own_is_a_path(tmp_path: Path) -> None:
    assert load(tmp_path, GOOD.replace('"licensed"', '"ours.toml"')).house == str(tmp_path / "ours.toml")


@pytest.mark.parametrize(
    ("right", "wrong", "told"),
    [
        ("seats = 6", "seats = 99", "table.seats must be a whole number from 1 to 14"),
        ("seats = 6", 'seats = "six"', "table.seats must be a whole number from 1 to 14"),
        ('deal = "group"', 'deal = "heap"', 'table.deal must be "group" or "rotation"'),
        ('deal = "group"', "", 'the key table.deal is missing; it is "group" or "rotation"'),
        ("sensors = true", "sensors = 1", "table.sensors must be true or false"),
        ("sensors = true", "sensers = true", "the key table.sensers is not known; known here: "),
        ('file = "licensed"', "", "the key house.file is missing; it is a text"),
        ('file = "licensed"', 'file = ""', "house.file must be a text"),
        (
            "[house]",
            "[haus]",
            "the key haus is not known; known here: table, house, journal, sockets, device or approved",
        ),
        ('kind = "shoe"', 'kind = "boot"', 'device[1].kind must be "shuffler", "shoe" or "layout"'),
        ('kind = "shoe"', 'kind = "layout"', 'device[2].kind "layout" is the kind of device[1] too'),
        ('name = "shoe-left"', 'name = "shuffler"', 'device[1].name "shuffler" is the name of device[0] too'),
        ('name = "shoe-left"', 'name = "operator"', 'device[1].name "operator" is taken by the daemon'),
        ('name = "shoe-left"', 'name = "../x"', "device[1].name must be a name of letters, digits"),
        ("/dev/ttyS2", "/dev/ttyS1", 'device[1].port "serial:/dev/ttyS1" is the port of device[0] too'),
        ('port = "serial:/dev/ttyS2"', "", "the key device[1].port is missing"),
        ('serial_number = "SH-77"', "baud = 9600", "the key device[1].baud is not known"),
        ("sensors = true", "sensors = false", "table.sensors is false"),
        ('control = "control.sock"', 'control = "feed.sock"', "must be files of their own"),
        ('key = "shoe.key"', 'key = "/etc/keys/table.key"', "must be files of their own"),
        ('key = "shoe.key"', 'key = "/etc/keys/../keys/table.key"', "must be files of their own"),
        ("[table]", "[table", "is not TOML"),
        ("[table]", '[[approved]]\nmodel = "M"\nversion = "1"\n[table]', "the key approved[0].hash is missing"),
        ("[table]", '[[approved]]\nname = "M"\n[table]', "the key approved[0].name is not known; known here: model"),
        ("[table]", '[[approved]]\nmodel = "M"\nversion = "1"\nhash = "x"\n[table]', "must be hexadecimal digits"),
        ("[table]", "approved = 5\n[table]", "approved must be one or more [[approved]] tables"),
        ('file = "data/table.journal"', 'file = "data\\u0000"', "journal.file must be a text on one line"),
        ('name = "shoe-left"', 'name = "shoe\\n"', "device[1].name must be a name of letters"),
        ('file = "data/table.journal"', 'file = "/"', "/ is no file"),
        ("seats = 6", "minimum = 500\nmaximum = 100", "table.minimum 500 is above table.maximum 100"),
        ("[table]", "table = 3\n[taple]", "the key taple is not known"),
    ],
)
def test_a_mistake_is_told_in_one_sentence(tmp_path: Path, right: str, wrong: str, told: str) -> None:
    assert right in GOOD
    with pytest.raises(ConfigError) as error:
        load(tmp_path, GOOD.replace(right, wrong, 1))
    sentence = str(error.value)
    assert str(tmp_path / "table.toml") in sentence
    assert told in sentence
    assert "\n" not in sentence
    assert sentence.endswith(".")


def test_a_rig_needs_its_machines(tmp_path: Path) -> None:
    without_shoe = (
        GOOD[: GOOD.index('[[device]]\nname = "shoe-left"')] + GOOD[GOOD.index('[[device]]\nname = "strip"') :]
    )
    with pytest.raises(ConfigError, match='needs a device of kind "shoe"'):
        load(tmp_path, without_shoe)
    without_strip = GOOD[: GOOD.index('[[device]]\nname = "strip"')]
    with pytest.raises(ConfigError, match='needs a device of kind "layout"'):
        load(tmp_path, without_strip)
    with pytest.raises(ConfigError, match="the key device is missing"):
        load(tmp_path, GOOD[: GOOD.index("[[device]]")])


def test_a_mark_before_the_first_letter_is_passed_over(tmp_path: Path) -> None:
    assert load(tmp_path, "\ufeff" + GOOD).table_name == "pit-3"


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="There is no configuration file"):
        load_config(tmp_path / "nowhere.toml")
    with pytest.raises(ConfigError, match="cannot be read"):
        load_config(tmp_path)
    (tmp_path / "latin.toml").write_bytes(b"# \xe9")
    with pytest.raises(ConfigError, match="is not UTF-8 text"):
        load_config(tmp_path / "latin.toml")

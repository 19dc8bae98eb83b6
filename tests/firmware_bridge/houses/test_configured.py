from pathlib import Path

import pytest

from firmware_bridge.config import ConfigError, load_config
from firmware_bridge.houses.configured import chosen_house

CONFIG = """\
[table]
name = "t"
deal = "group"
{table}
[house]
file = "{house}"
[journal]
file = "j"
key = "k"
[sockets]
control = "c.sock"
feed = "f.sock"
[[device]]
name = "shuffler"
kind = "shuffler"
driver = "tdp"
port = "serial:/dev/x"
[[device]]
name = "shoe"
kind = "shoe"
driver = "tdp"
port = "serial:/dev/y"
"""


def configured(folder: Path, house: str = "licensed", table: str = "") -> Path:
    file = folder / "table.toml"
    file.write_text(CONFIG.format(house=house, table=table))
    return file


def test_the_house_of_the_configuration(tmp_path: Path) -> None:
    assert chosen_house(load_config(configured(tmp_path, "six-card"))).name == "six-card"


@pytest.mark.parametrize(
    ("house", "table", "says"),
    [
        ("of-cards", "", r"table\.toml: house\.file: "),
        ("licensed", "decks = 8", r"table\.toml: table: .*decks"),
        ("licensed", "schedule = 9", r"table\.toml: table: .*schedule"),
        ("licensed", "seats = 8", r"table\.seats is 8, but the house licensed has 7 places at most\."),
    ],
)
def test_what_does_not_fit_is_told_with_file_and_key(tmp_path: Path, house: str, table: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says) as error:
        chosen_house(load_config(configured(tmp_path, house, table)))
    assert str(error.value).endswith(".")

"""The house that a configuration chooses, checked against the table that it is for."""

from drivers.sentences import sentence
from firmware_bridge.config import Config, ConfigError
from firmware_bridge.core.rules.chosen_rules import RulesRefused, choose_rules
from firmware_bridge.core.rules.house import House
from firmware_bridge.houses.loader import HouseError, load_house


def chosen_house(config: Config) -> House:
    """The configured house, if it offers what the table has chosen. Raises ConfigError."""
    try:
        house = load_house(config.house)
        setup = config.setup
        choose_rules(house, schedule=setup.schedule, decks=setup.decks, options=setup.options)
    except HouseError as error:
        raise ConfigError(f"{config.file}: house.file: {sentence(error)}") from error
    except RulesRefused as error:
        raise ConfigError(f"{config.file}: table: {sentence(error)}") from error
    if setup.seats > house.deal.places:
        most = f"the house {house.name} has {house.deal.places} places at most"
        raise ConfigError(f"{config.file}: table.seats is {setup.seats}, but {most}.")
    return house

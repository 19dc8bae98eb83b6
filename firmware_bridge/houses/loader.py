"""Reads a house's file. Every rule in it names its source, or says that the document is silent and why.

A rule is written `key = { is = VALUE, source = "rule 5" }` or `{ is = VALUE, silent = true, reason = "..." }`;
rows of policy and schedules carry `source`, or `silent` and `reason`, beside their other keys.
"""

import re
import tomllib
from importlib import resources
from pathlib import Path
from typing import Final, TypeAlias

import msgspec
import msgspec.inspect

from firmware_bridge.core.rules.frequencies import against_the_house
from firmware_bridge.core.rules.house import House, Provenance

Tree: TypeAlias = "dict[str, Tree] | list[Tree] | str | int | float | bool"

LONGEST_FILE_BYTES: Final = 1_000_000
_MARKS: Final = ("source", "silent", "reason")
_HEADER: Final = re.compile(r"^\s*(\[\[?)\s*([A-Za-z0-9_.-]+)\s*\]\]?")
_KEY: Final = re.compile(r"^\s*([A-Za-z0-9_-]+(?:\s*\.\s*[A-Za-z0-9_-]+)*)\s*=")
_PATH_IN_ERROR: Final = re.compile(r"^(?P<what>.*?)(?: - at (?:`key` in )?`(?P<path>\$[^`]*)`)?$", re.DOTALL)
_FIELD_IN_ERROR: Final = re.compile(r"(?:unknown|missing required) field `([^`]+)`")


class HouseError(ValueError):
    """A house that cannot be used; the text says which file, key and line, and what is wrong, in one sentence."""


def built_in_houses() -> tuple[str, ...]:
    """The names of the houses that come with the program."""
    folder = resources.files("firmware_bridge.houses")
    return tuple(sorted(entry.name[:-5] for entry in folder.iterdir() if entry.name.endswith(".toml")))


def load_house(name_or_path: str) -> House:
    """The house of that name, or in that file. Raises HouseError."""
    if name_or_path in built_in_houses():
        text = resources.files("firmware_bridge.houses").joinpath(f"{name_or_path}.toml").read_text("utf-8")
        return read_house(text, f"{name_or_path}.toml")
    looks_like_a_file = name_or_path.endswith(".toml") or "/" in name_or_path
    try:
        path = Path(name_or_path)
        if not looks_like_a_file or not path.is_file():
            names = ", ".join(built_in_houses())
            msg = f"there is no house {name_or_path!r}: name one of {names}, or the path of a house file (.toml)"
            raise HouseError(msg)
        if path.stat().st_size > LONGEST_FILE_BYTES:
            msg = f"{name_or_path} is no house file: it is over {LONGEST_FILE_BYTES} bytes long"
            raise HouseError(msg)
        return read_house(path.read_text("utf-8"), name_or_path)
    except UnicodeDecodeError as error:
        msg = f"{name_or_path} is not UTF-8 text: {error.reason} at byte {error.start}"
        raise HouseError(msg) from error
    except OSError as error:
        msg = f"the house file {name_or_path!r} cannot be read: {error.strerror or error}"
        raise HouseError(msg) from error


def read_house(text: str, file: str) -> House:
    """The house written in `text`; `file` is what messages call it. Raises HouseError."""
    try:
        tree = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        msg = f"{file} is not TOML: {error}"
        raise HouseError(msg) from error
    lines = _lines(text)
    sources: dict[str, Provenance] = {}
    try:
        plain = _plain(tree, "", sources)
        house = msgspec.convert(plain, House)
        _check(house, sources)
    except msgspec.ValidationError as error:
        path, what = _explained(str(error))
        raise HouseError(_located(file, lines, path, what)) from error
    except _Wrong as error:
        raise HouseError(_located(file, lines, error.path, error.what)) from error
    return msgspec.structs.replace(house, sources=sources)


class _Wrong(ValueError):
    def __init__(self, path: str, what: str) -> None:
        super().__init__(what)
        self.path = path
        self.what = what


def _plain(tree: Tree, path: str, sources: dict[str, Provenance]) -> Tree:
    """The tree with every rule replaced by its value; what it said of its source goes to `sources`."""
    if isinstance(tree, list):
        return [_row(item, f"{path}[{place}]", sources) for place, item in enumerate(tree)]
    if not isinstance(tree, dict):
        if path not in {"name", "document"}:
            raise _Wrong(path, "is a bare value: write { is = VALUE, source = ... }, or silent = true with a reason")
        return tree
    if "is" in tree:
        sources[path] = _provenance({key: value for key, value in tree.items() if key != "is"}, path)
        return tree["is"]
    return {key: _plain(value, f"{path}.{key}" if path else key, sources) for key, value in tree.items()}


def _row(item: Tree, path: str, sources: dict[str, Provenance]) -> Tree:
    if not isinstance(item, dict):
        raise _Wrong(path, "is not a table")
    sources[path] = _provenance({key: item[key] for key in _MARKS if key in item}, path)
    return {key: value for key, value in item.items() if key not in _MARKS}


def _provenance(marks: dict[str, Tree], path: str) -> Provenance:
    try:
        told = msgspec.convert(marks, Provenance)
    except msgspec.ValidationError as error:
        key, what = _explained(str(error))
        raise _Wrong(f"{path}.{key}", what) from error
    if told.silent and not told.reason:
        raise _Wrong(path, "is marked silent without a reason")
    if not told.silent and not told.source:
        raise _Wrong(path, 'names no source: add source = "..." or silent = true with a reason')
    return told


def _check(house: House, sources: dict[str, Provenance]) -> None:
    """What no single key can say. Raises _Wrong."""
    deal, wagers, settlement = house.deal, house.wagers, house.settlement
    if deal.decks_min > deal.decks_max:
        raise _Wrong("deal.decks_min", f"is {deal.decks_min}, more than decks_max ({deal.decks_max})")
    for path, listed in (("wagers.offered", wagers.offered), ("wagers.tips", wagers.tips)):
        if len(set(listed)) != len(listed):
            raise _Wrong(path, "names a wager twice")
    for wager in wagers.required:
        if wager not in wagers.offered:
            raise _Wrong("wagers.required", f"demands {wager}, which wagers.offered does not name")
    for tip, beside in (("tip_play", "ante"), ("tip_ante", "ante"), ("tip_pair_plus", "pair_plus")):
        if tip in wagers.tips and beside not in wagers.offered:
            raise _Wrong("wagers.tips", f"names {tip}, but the house does not offer {beside}")
    if wagers.fee == "none" and wagers.fee_tiers:
        raise _Wrong("wagers.fee_tiers", "names fees, but wagers.fee is none")
    antes = [tier.ante_up_to for tier in wagers.fee_tiers]
    if antes != sorted(set(antes)):
        raise _Wrong("wagers.fee_tiers", "does not go from the smallest ante to the largest")
    if sorted(settlement.order) != sorted({"play", "ante_bonus", "ante", "pair_plus", "six_card"}):
        raise _Wrong("settlement.order", "must name play, ante_bonus, ante, pair_plus and six_card once each")
    if settlement.nonqualify_ante not in settlement.nonqualify_ante_options:
        raise _Wrong("settlement.nonqualify_ante", "is not among nonqualify_ante_options")
    if (house.position is None) == (settlement.seats == "action"):
        raise _Wrong("settlement.seats", "is action in houses with a [position], and in no others")
    if house.position is not None:
        if house.position.coverage not in house.position.coverage_options:
            raise _Wrong("position.coverage", "is not among coverage_options")
        if wagers.offered != ("ante",):
            raise _Wrong("wagers.offered", "must be the ante alone where a player-dealer covers the wagers")
        if wagers.tips:
            raise _Wrong("wagers.tips", "must be empty where a player-dealer covers the wagers")
        if any(schedule.ante_bonus for schedule in house.schedules):
            raise _Wrong("schedules", "must pay no ante_bonus where a player-dealer covers the wagers")
    _check_schedules(house)
    gaps = house.policy.gaps()
    if gaps:
        irregularity, phase, who = gaps[0]
        what = f"has no row for {irregularity.value} in the phase {phase.value}, who = {who.value}"
        raise _Wrong("policy.rows", what)
    named = {path for path in sources if path.startswith("policy.rows[")}
    if len(named) != len(house.policy.rows):
        raise _Wrong("policy.rows", "must be written as [[policy.rows]] with a source each")


def _check_schedules(house: House) -> None:
    if not house.schedules:
        raise _Wrong("schedules", "names no schedule: a house needs at least one")
    numbers = [schedule.number for schedule in house.schedules]
    for place, schedule in enumerate(house.schedules):
        path = f"schedules[{place}]"
        if numbers.count(schedule.number) > 1:
            raise _Wrong(path, f"is a second schedule {schedule.number}")
        for wager in ("pair_plus", "six_card"):
            if bool(schedule.six_card if wager == "six_card" else schedule.pair_plus) != (
                wager in house.wagers.offered
            ):
                raise _Wrong(path, f"must have a pay table {wager} exactly if wagers.offered names it")
        # A table that loses on one deck is the house's own choice; one that several decks turn is an oversight.
        for decks in range(max(2, house.deal.decks_min), house.deal.decks_max + 1):
            against = against_the_house(schedule, decks)
            if against is not None:
                raise _Wrong(path, against)


def _explained(error: str) -> tuple[str, str]:
    """msgspec's message as (key path, sentence)."""
    found = _PATH_IN_ERROR.match(error)
    what, path = (found["what"], found["path"] or "$") if found else (error, "$")
    path = path.removeprefix("$").removeprefix(".")
    field = _FIELD_IN_ERROR.search(what)
    if field is not None:
        path = f"{path}.{field[1]}" if path else field[1]
        return path, "is missing" if "missing" in what else "is no key of a house file"
    choices = _choices(path) if what.startswith("Invalid enum value") else []
    return path, f"is wrong: {what}" + (f", it can be {', '.join(choices)}" if choices else "")


def _choices(path: str) -> list[str]:
    """What may stand at a key path of a house, where that is a closed set."""
    at: msgspec.inspect.Type = msgspec.inspect.type_info(House)
    for step in re.findall(r"[a-z_]+|\[\d+\]|\[\.\.\.\]", path):
        if isinstance(at, msgspec.inspect.UnionType):
            at = next(kind for kind in at.types if not isinstance(kind, msgspec.inspect.NoneType))
        if isinstance(at, msgspec.inspect.StructType):
            at = next(field.type for field in at.fields if field.name == step)
        elif isinstance(at, msgspec.inspect.VarTupleType):
            at = at.item_type
    if isinstance(at, msgspec.inspect.DictType):
        at = at.key_type
    if isinstance(at, msgspec.inspect.EnumType):
        return [str(member.value) for member in at.cls]
    return [str(value) for value in at.values] if isinstance(at, msgspec.inspect.LiteralType) else []


def _lines(text: str) -> dict[str, int]:
    """The line of every key path that a line of the file begins, as far as a plain reading of the text shows it."""
    lines: dict[str, int] = {}
    counts: dict[str, int] = {}
    prefix = ""
    for number, line in enumerate(text.splitlines(), 1):
        header = _HEADER.match(line)
        if header is not None:
            prefix = header[2]
            if header[1] == "[[":
                place = counts.get(prefix, 0)
                counts[prefix] = place + 1
                lines.setdefault(prefix, number)
                prefix = f"{prefix}[{place}]"
            lines.setdefault(prefix, number)
            continue
        key = _KEY.match(line)
        if key is not None:
            name = re.sub(r"\s*", "", key[1])
            lines.setdefault(f"{prefix}.{name}" if prefix else name, number)
    return lines


def _located(file: str, lines: dict[str, int], path: str, what: str) -> str:
    """`file, line 12: deal.shuffle is wrong: ...`, the line of the nearest key above where the key has none."""
    nearest = path
    while nearest and nearest not in lines:
        nearest = nearest[: max(nearest.rfind("."), nearest.rfind("["), 0)]
    where = f"{file}, line {lines[nearest]}" if nearest else file
    return f"{where}: {path} {what}" if path else f"{where}: {what}"

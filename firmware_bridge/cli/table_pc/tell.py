"""`firmware-bridge tell FACT ...`: what a person at the table tells the daemon.

Each fact is a command of its own, made from the fact's struct: what it needs is an argument, what it may have an
option.
"""

import getpass
import inspect
import secrets
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final

import msgspec
import typer

from drivers.cards import Card
from drivers.facts import Fact
from firmware_bridge.cli.errors import CommandError
from firmware_bridge.cli.table_pc.control_client import ask, control_socket
from firmware_bridge.core.events import read_event
from firmware_bridge.daemon.control_socket import OPERATOR_FACTS, BadRequest, read_operator_fact
from firmware_bridge.wording.render import Renderer

_STAMPED: Final = ("at_ms", "source")
_WORDS: Final = {"play": ("play", "fold")}
_YES_OR_NO: Final = ("yes", "no")


@dataclass(frozen=True, slots=True)
class Asked:
    """One field of a fact, as an argument or an option."""

    name: str
    kind: msgspec.inspect.Type
    required: bool

    @property
    def several(self) -> bool:
        """The option may be given several times."""
        return isinstance(self.kind, msgspec.inspect.VarTupleType)

    @property
    def words(self) -> tuple[str, ...]:
        """The words that may stand there; none where any text may."""
        match self.kind:
            case msgspec.inspect.BoolType():
                return _WORDS.get(self.name, _YES_OR_NO)
            case msgspec.inspect.LiteralType(values=values):
                return tuple(str(value) for value in values)
            case _:
                return ()

    @property
    def shown(self) -> str:
        """As it stands in a usage line."""
        metavar = "|".join(self.words) or self.name.upper()
        if self.required:
            return f"{metavar}..." if self.several else metavar
        return f"[{self.flag} {metavar}]"

    @property
    def flag(self) -> str:
        """The option's name on the command line."""
        return "--" + self.name.replace("_", "-")

    @property
    def help(self) -> str:
        """The option's help text; None where the name says it all."""
        match self.kind:
            case msgspec.inspect.EnumType(cls=cls) if cls is Card:
                return "A card, such as Qh or Td."
            case msgspec.inspect.EnumType(cls=cls):
                return "One of " + ", ".join(str(member.value) for member in cls) + "."
            case msgspec.inspect.UnionType():
                return 'A seat\'s number, or "dealer".'
            case msgspec.inspect.IntType() | msgspec.inspect.VarTupleType():
                return "A whole number."
            case _:
                return ""

    def value(self, text: str | list[str]) -> object:
        """`text` as the JSON value that stands for it. Whether the value fits the fact its own reader says.

        Raises CommandError.
        """
        if isinstance(text, list):
            values = [_number_or_text(one) for one in text]
            for value in values:
                if isinstance(value, str):
                    raise CommandError(f"{self.name} are whole numbers, and {value!r} is none", 2)
            return values
        if self.words and text not in self.words:
            raise CommandError(f"{self.name} is {' or '.join(self.words)}, not {text!r}", 2)
        if isinstance(self.kind, msgspec.inspect.BoolType):
            return text == self.words[0]
        numbers = isinstance(self.kind, msgspec.inspect.IntType | msgspec.inspect.UnionType)
        value = _number_or_text(text) if numbers else text
        if not self._may_be(value):
            raise CommandError(f"{self.name} is {self.help[0].lower()}{self.help[1:-1]}, not {text!r}", 2)
        return value

    def _may_be(self, value: int | str) -> bool:
        match self.kind:
            case msgspec.inspect.EnumType(cls=cls):
                return value in {member.value for member in cls}
            case msgspec.inspect.IntType():
                return isinstance(value, int)
            case msgspec.inspect.UnionType():
                return isinstance(value, int) or value == "dealer"
            case _:
                return True


def register(app: typer.Typer) -> None:
    """Add the command's group to the program, a command for each fact that a person reports."""
    tell = typer.Typer(no_args_is_help=True, help="Tell the daemon what happened at the table.")
    for name, kind in OPERATOR_FACTS.items():
        asked = fields_of(kind)
        doc = " ".join((kind.__doc__ or "").split()) if kind.__doc__ != Fact.__doc__ else ""
        usage = " ".join(one.shown for one in asked)
        tell.command(name, help=f"{usage}\n\n{doc}".strip(), short_help=f"{usage}  {doc}".strip())(
            _command(name, asked)
        )
    app.add_typer(tell, name="tell")


def fields_of(kind: type[Fact]) -> tuple[Asked, ...]:
    """What a person says of a fact of this kind, required fields first."""
    info = msgspec.inspect.type_info(kind)
    if not isinstance(info, msgspec.inspect.StructType):
        raise TypeError(kind)
    asked = [
        Asked(field.name, _given(field.type), field.required) for field in info.fields if field.name not in _STAMPED
    ]
    return tuple(sorted(asked, key=lambda one: not one.required))


def _given(kind: msgspec.inspect.Type) -> msgspec.inspect.Type:
    """The type without "or nothing"."""
    if isinstance(kind, msgspec.inspect.UnionType):
        types = tuple(one for one in kind.types if not isinstance(one, msgspec.inspect.NoneType))
        return types[0] if len(types) == 1 else msgspec.inspect.UnionType(types)
    return kind


def _number_or_text(text: str) -> int | str:
    digits = text.removeprefix("-")
    return int(text) if digits.isascii() and digits.isdecimal() and len(digits) <= 18 else text


def _command(name: str, asked: tuple[Asked, ...]) -> Callable[..., None]:
    """A function with the fact's own parameters, as typer reads them off a signature."""

    def tell(
        *,
        control: Path | None,
        config: Path | None,
        actor: str | None,
        request: str | None,
        as_json: bool,
        **given: str | list[str] | None,
    ) -> None:
        path = control_socket(control, config)
        fact = {"fact": name}
        values = {one.name: one.value(text) for one in asked if (text := given[one.name]) is not None}
        _tell(path, request or secrets.token_hex(8), actor or getpass.getuser(), fact | values, as_json=as_json)

    parameters = [_parameter(one) for one in asked] + list(_COMMON)
    tell.__name__ = name
    tell.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    tell.__annotations__ = {one.name: one.annotation for one in parameters}
    return tell


def _parameter(asked: Asked) -> inspect.Parameter:
    metavar = "|".join(asked.words) or asked.name.upper()
    kind: Any = list[str] if asked.several else str
    if asked.required:
        annotation: Any = Annotated[kind, typer.Argument(metavar=metavar, help=asked.help)]
        return inspect.Parameter(asked.name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation)
    annotation = Annotated[kind | None, typer.Option(asked.flag, metavar=metavar, help=asked.help)]
    return inspect.Parameter(asked.name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=None)


def _common(name: str, kind: Any, default: object) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=kind, default=default)


_COMMON: Final = (
    _common("control", Annotated[Path | None, typer.Option(help="The daemon's control socket.")], None),
    _common("config", Annotated[Path | None, typer.Option(help="The configuration, which names the socket.")], None),
    _common("actor", Annotated[str | None, typer.Option(help="Who tells it; else your user name.")], None),
    _common("request", Annotated[str | None, typer.Option("--id", help="Repeat a request under its id.")], None),
    _common("as_json", Annotated[bool, typer.Option("--json", help="The answer as it is.")], default=False),
)


def _tell(path: Path, request: str, actor: str, fact: dict[str, object], *, as_json: bool) -> None:
    try:
        read_operator_fact(msgspec.json.encode(fact))
    except BadRequest as error:
        raise CommandError(f"{error}.", 2) from error
    line, answer = ask(path, {"id": request, "actor": actor, "fact": fact})
    if as_json:
        sys.stdout.write(line.decode() + "\n")
    if not answer.accepted:
        if as_json:
            raise typer.Exit(1)
        raise CommandError(answer.sentence or answer.error or "the daemon gave no reason")
    if not as_json:
        renderer = Renderer()
        shown = [line.text for event in answer.events for line in renderer.lines(read_event(event))]
        sys.stdout.write("\n".join(shown or ["taken"]) + "\n")

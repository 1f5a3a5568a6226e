"""Small random environments: two entities and one tool with random terms in refusals, effects and results.

Deterministic in the seed, since the lambdas of a declaration are called more than once and must return the same terms.
"""

from random import Random

from lawtrace.environments.spec.clock import DEFAULT_START
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.effects import (
    Delete,
    Insert,
    InsertEach,
    KeyResult,
    NestedRows,
    RowsResult,
    Update,
    ValueResult,
)
from lawtrace.environments.spec.expressions import SUCCEEDED, RowVariable, Term
from lawtrace.environments.spec.samplers import OneOf
from lawtrace.environments.spec.state import Entity, Field, Row, State
from lawtrace.environments.spec.terms import (
    CURRENT_MOMENT,
    NOW,
    any_item,
    argument,
    choose,
    constant,
    contains_text,
    exists,
    if_given,
    is_empty,
    value_of,
)
from lawtrace.environments.spec.tools import Fails, FromUser, Parameter, Phrases, Raises, Tool
from lawtrace.environments.spec.types import BOOLEAN, INTEGER, MOMENT, TEXT, TEXTS, ValueType

WORDS = ("", "a", "Ab", "b", "abba")
ENTITIES = {
    name: Entity(
        name,
        name.removesuffix("s"),
        "id",
        {"id": Field(TEXT), "word": Field(TEXT), "size": Field(INTEGER), "live": Field(BOOLEAN)},
        key_prefix=f"{name[0].upper()}-",
    )
    for name in ("boxes", "marks")
}
BOXES, MARKS = ENTITIES.values()
KINDS: dict[str, ValueType] = {"word": TEXT, "size": INTEGER, "live": BOOLEAN}
PARAMETERS: dict[str, ValueType] = {"text": TEXT, "number": INTEGER, "flag": BOOLEAN, "list": TEXTS, "limit": INTEGER}

DEFAULT_MOMENT = MOMENT.decode("2026-03-02 09:00")
"""The default start of a session, so that the time in terms is a small number."""

Rows = tuple[RowVariable, ...]


class _Terms:
    """Random terms of a type, over the arguments and the bound rows."""

    def __init__(self, seed: str) -> None:
        self.random = Random(seed)

    def truth(self, rows: Rows = (), depth: int = 3) -> Term:
        below = depth - 1
        leaves = [
            lambda: argument("flag") == self.random.choice((True, False)),
            lambda: self._field("live", rows) == constant(True),
            lambda: self.number(rows, below) < self.number(rows, below),
            lambda: self.word(rows, below) == self.word(rows, below),
            lambda: is_empty(argument("list")),
            lambda: if_given(argument("limit"), argument("limit") >= self.number(rows, 0), default=False),
            lambda: contains_text(self.word(rows, 0), self.word(rows, 0)),
            lambda: any_item(argument("list"), lambda item: item == self.word(rows, 0)),
        ]
        branches = [
            lambda: self.truth(rows, below) & self.truth(rows, below),
            lambda: self.truth(rows, below) | self.truth(rows, below),
            lambda: ~self.truth(rows, below),
            lambda: choose(self.truth(rows, below), self.truth(rows, below), self.truth(rows, below)),
            lambda: exists(self._entity(), lambda row: self.truth((*rows, row), below)),
        ]
        return self.random.choice(branches if depth > 0 and self.random.random() < 0.6 else leaves)()

    def number(self, rows: Rows = (), depth: int = 2) -> Term:
        below = depth - 1
        leaves = [
            lambda: constant(self.random.randint(-3, 3)),
            lambda: argument("number"),
            lambda: self._field("size", rows),
            lambda: NOW - DEFAULT_START,
            lambda: CURRENT_MOMENT - DEFAULT_MOMENT,
        ]
        branches = [
            lambda: self.number(rows, below) + self.number(rows, below),
            lambda: self.number(rows, below) - self.number(rows, below),
            lambda: -self.number(rows, below),
            lambda: choose(self.truth(rows, below), self.number(rows, below), self.number(rows, below)),
            lambda: value_of(self._entity(), lambda row: self.truth((*rows, row), below), "size", otherwise=1),
        ]
        return self.random.choice(branches if depth > 0 and self.random.random() < 0.6 else leaves)()

    def word(self, rows: Rows = (), depth: int = 2) -> Term:
        below = depth - 1
        leaves = [
            lambda: constant(self.random.choice(WORDS)),
            lambda: argument("text"),
            lambda: self._field("word", rows),
        ]
        branches = [
            lambda: choose(self.truth(rows, below), self.word(rows, below), self.word(rows, below)),
            lambda: value_of(self._entity(), lambda row: self.truth((*rows, row), below), "word", otherwise="b"),
        ]
        return self.random.choice(branches if depth > 0 and self.random.random() < 0.5 else leaves)()

    def of(self, field: str, rows: Rows = ()) -> Term:
        return {"word": self.word, "size": self.number, "live": self.truth}[field](rows)

    def _field(self, name: str, rows: Rows) -> Term:
        """A field of a random bound row; a constant if no row is bound."""
        if rows:
            return getattr(self.random.choice(rows), name)
        return constant({"word": "a", "size": 2, "live": True}[name])

    def _entity(self) -> Entity:
        return self.random.choice((BOXES, MARKS))


def random_environment(seed: int) -> Environment:
    """The environment of that seed, with one tool, ``Do``."""
    random = Random(seed)

    def fresh() -> _Terms:
        return _Terms(f"{seed}/{random.random()}")

    def update() -> Update:
        label, fields = f"{seed}/{random.random()}", random.sample(list(KINDS), random.randint(1, 2))
        return Update(
            random.choice((BOXES, MARKS)),
            lambda row: _Terms(label).truth((row,)),
            {field: lambda row, field=field: _Terms(label + field).of(field, (row,)) for field in fields},
        )

    def delete() -> Delete:
        label = f"{seed}/{random.random()}"
        return Delete(random.choice((BOXES, MARKS)), lambda row: _Terms(label).truth((row,)))

    def rows(name: str) -> RowsResult:
        label = f"{seed}/{random.random()}"
        fields = tuple(random.sample(["id", *KINDS], 2))
        inside = NestedRows(
            "inside", "-", MARKS, lambda row, mark: _Terms(label + "/").truth((row, mark), 1), ("word",)
        )
        return RowsResult(
            name,
            "-",
            random.choice((BOXES, MARKS)),
            lambda row: _Terms(label).truth((row,)),
            fields,
            parts=(inside,),
            after=random.random() < 0.5,
        )

    inserts = [Insert(random.choice((BOXES, MARKS)), {field: fresh().of(field) for field in KINDS})]
    label = f"{seed}/{random.random()}"
    each = InsertEach(
        next(entity for entity in (BOXES, MARKS) if entity is not inserts[0].entity),
        argument("list"),
        lambda item: {"word": item, "size": _Terms(label).number(), "live": item == "b"},
    )
    effects = tuple(random.sample([*random.sample([update(), update(), delete(), each], 2), *inserts], 3))
    tool = Tool(
        "Do",
        "Does what its seed says.",
        parameters=tuple(
            Parameter(name, kind, "-", FromUser(OneOf((None,))), required=name != "limit")
            for name, kind in PARAMETERS.items()
        ),
        raises=(
            Raises("InvalidRequestException", "-", fresh().truth(depth=2)),
            Raises("InvalidRequestException", "-"),
        ),
        fails=(Fails("-", fresh().truth(depth=2)),),
        effects=effects,
        duration=random.choice((1, 5, argument("number"), NOW - DEFAULT_START + argument("number"))),
        results=(
            ValueResult("success", "-", BOOLEAN, SUCCEEDED),
            ValueResult("number", "-", INTEGER, fresh().number()),
            ValueResult("word", "-", TEXT, fresh().word()),
            *(KeyResult("made", "-", effect.entity) for effect in effects if isinstance(effect, Insert)),
            rows("found"),
        ),
        phrases=Phrases("Do it."),
    )
    return Environment("random", "Random", "Random", "-", ENTITIES, {"Do": tool}, _populate)


def _populate(random: Random) -> State:
    def row(key: str) -> Row:
        return Row(
            {
                "id": key,
                "word": random.choice(WORDS),
                "size": random.randint(-3, 3),
                "live": random.random() < 0.5,
            }
        )

    return State(
        {
            name: tuple(row(f"{entity.key_prefix}{number:05d}") for number in range(random.randint(1, 3)))
            for name, entity in ENTITIES.items()
        }
    )

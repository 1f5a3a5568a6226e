"""Small random environments: two entities and one tool with random terms in refusals, effects and results.

Deterministic in the seed, since the lambdas of a declaration are called more than once and must return the same terms.
"""

from dataclasses import replace
from random import Random

from lawtrace.environments import spec as s
from lawtrace.environments.spec.clock import DEFAULT_START
from lawtrace.environments.spec.effects import Effect

WORDS = ("", "a", "Ab", "b", "abba")
ENTITIES = {
    name: s.table(
        name,
        name.removesuffix("s"),
        prefix=f"{name[0].upper()}-",
        id=s.TEXT,
        word=s.TEXT,
        size=s.INTEGER,
        live=s.BOOLEAN,
    )
    for name in ("boxes", "marks")
}
BOXES, MARKS = ENTITIES.values()
KINDS: dict[str, s.ValueType] = {"word": s.TEXT, "size": s.INTEGER, "live": s.BOOLEAN}
PARAMETERS: dict[str, s.ValueType] = {
    "text": s.TEXT,
    "number": s.INTEGER,
    "flag": s.BOOLEAN,
    "list": s.TEXTS,
    "limit": s.INTEGER,
}

DEFAULT_MOMENT = s.MOMENT.decode("2026-03-02 09:00")
"""The default start of a session, so that the time in terms is a small number."""

Rows = tuple[s.RowVariable, ...]


class _Terms:
    """Random terms of a type, over the arguments and the bound rows."""

    def __init__(self, seed: str) -> None:
        self.random = Random(seed)

    def truth(self, rows: Rows = (), depth: int = 3) -> s.Term:
        below = depth - 1
        leaves = [
            lambda: s.argument("flag") == self.random.choice((True, False)),
            lambda: self._field("live", rows) == s.constant(True),
            lambda: self.number(rows, below) < self.number(rows, below),
            lambda: self.word(rows, below) == self.word(rows, below),
            lambda: s.is_empty(s.argument("list")),
            lambda: s.if_given(s.argument("limit"), s.argument("limit") >= self.number(rows, 0), default=False),
            lambda: s.contains_text(self.word(rows, 0), self.word(rows, 0)),
            lambda: s.any_item(s.argument("list"), lambda item: item == self.word(rows, 0)),
        ]
        branches = [
            lambda: self.truth(rows, below) & self.truth(rows, below),
            lambda: self.truth(rows, below) | self.truth(rows, below),
            lambda: ~self.truth(rows, below),
            lambda: s.choose(self.truth(rows, below), self.truth(rows, below), self.truth(rows, below)),
            lambda: s.exists(self._entity(), lambda row: self.truth((*rows, row), below)),
        ]
        return self.random.choice(branches if depth > 0 and self.random.random() < 0.6 else leaves)()

    def number(self, rows: Rows = (), depth: int = 2) -> s.Term:
        below = depth - 1
        leaves = [
            lambda: s.constant(self.random.randint(-3, 3)),
            lambda: s.argument("number"),
            lambda: self._field("size", rows),
            lambda: s.NOW - DEFAULT_START,
            lambda: s.CURRENT_MOMENT - DEFAULT_MOMENT,
        ]
        branches = [
            lambda: self.number(rows, below) + self.number(rows, below),
            lambda: self.number(rows, below) - self.number(rows, below),
            lambda: -self.number(rows, below),
            lambda: s.choose(self.truth(rows, below), self.number(rows, below), self.number(rows, below)),
            lambda: s.value_of(self._entity(), lambda row: self.truth((*rows, row), below), "size", otherwise=1),
        ]
        return self.random.choice(branches if depth > 0 and self.random.random() < 0.6 else leaves)()

    def word(self, rows: Rows = (), depth: int = 2) -> s.Term:
        below = depth - 1
        leaves = [
            lambda: s.constant(self.random.choice(WORDS)),
            lambda: s.argument("text"),
            lambda: self._field("word", rows),
        ]
        branches = [
            lambda: s.choose(self.truth(rows, below), self.word(rows, below), self.word(rows, below)),
            lambda: s.value_of(self._entity(), lambda row: self.truth((*rows, row), below), "word", otherwise="b"),
        ]
        return self.random.choice(branches if depth > 0 and self.random.random() < 0.5 else leaves)()

    def of(self, field: str, rows: Rows = ()) -> s.Term:
        return {"word": self.word, "size": self.number, "live": self.truth}[field](rows)

    def _field(self, name: str, rows: Rows) -> s.Term:
        """A field of a random bound row; a constant if no row is bound."""
        if rows:
            return getattr(self.random.choice(rows), name)
        return s.constant({"word": "a", "size": 2, "live": True}[name])

    def _entity(self) -> s.Entity:
        return self.random.choice((BOXES, MARKS))


def _update(seed: int, random: Random) -> s.Update:
    label, fields = f"{seed}/{random.random()}", random.sample(list(KINDS), random.randint(1, 2))
    return s.Update(
        random.choice((BOXES, MARKS)),
        lambda row: _Terms(label).truth((row,)),
        {field: lambda row, field=field: _Terms(label + field).of(field, (row,)) for field in fields},
    )


def _delete(seed: int, random: Random) -> s.Delete:
    label = f"{seed}/{random.random()}"
    return s.Delete(random.choice((BOXES, MARKS)), lambda row: _Terms(label).truth((row,)))


def random_environment(seed: int) -> s.Environment:
    """The environment of that seed, with one tool, ``Do``."""
    random = Random(seed)

    def fresh() -> _Terms:
        return _Terms(f"{seed}/{random.random()}")

    def rows(name: str) -> s.RowsResult:
        label = f"{seed}/{random.random()}"
        fields = tuple(random.sample(["id", *KINDS], 2))
        inside = s.NestedRows(
            "inside", "-", MARKS, lambda row, mark: _Terms(label + "/").truth((row, mark), 1), ("word",)
        )
        return s.RowsResult(
            name,
            "-",
            random.choice((BOXES, MARKS)),
            lambda row: _Terms(label).truth((row,)),
            fields,
            parts=(inside,),
            after=random.random() < 0.5,
        )

    inserts = [s.Insert(random.choice((BOXES, MARKS)), {field: fresh().of(field) for field in KINDS})]
    label = f"{seed}/{random.random()}"
    each = s.InsertEach(
        next(entity for entity in (BOXES, MARKS) if entity is not inserts[0].entity),
        s.argument("list"),
        lambda item: {"word": item, "size": _Terms(label).number(), "live": item == "b"},
    )
    changes = [_update(seed, random), _update(seed, random), _delete(seed, random)]
    effects = tuple(random.sample([*random.sample([*changes, each], 2), *inserts], 3))
    tool = s.Tool(
        "Do",
        "Does what its seed says.",
        parameters=tuple(
            s.Parameter(name, kind, "-", s.FromUser(s.OneOf((None,))), required=name != "limit")
            for name, kind in PARAMETERS.items()
        ),
        raises=(
            s.Raises("InvalidRequestException", "-", fresh().truth(depth=2)),
            s.Raises("InvalidRequestException", "-"),
        ),
        fails=(s.Fails("-", fresh().truth(depth=2)),),
        effects=effects,
        duration=random.choice((1, 5, s.argument("number"), s.NOW - DEFAULT_START + s.argument("number"))),
        results=(
            s.ValueResult("success", "-", s.BOOLEAN, s.SUCCEEDED),
            s.ValueResult("number", "-", s.INTEGER, fresh().number()),
            s.ValueResult("word", "-", s.TEXT, fresh().word()),
            *(s.KeyResult("made", "-", effect.entity) for effect in effects if isinstance(effect, s.Insert)),
            rows("found"),
        ),
        phrases=s.Phrases("Do it."),
    )
    return s.Environment("random", "Random", "Random", "-", ENTITIES, {"Do": tool}, _populate)


def _populate(random: Random) -> s.State:
    def row(key: str) -> s.Row:
        return s.Row(
            {"id": key, "word": random.choice(WORDS), "size": random.randint(-3, 3), "live": random.random() < 0.5}
        )

    return s.State(
        {
            name: tuple(row(f"{entity.key_prefix}{number:05d}") for number in range(random.randint(1, 3)))
            for name, entity in ENTITIES.items()
        }
    )


FIELDS = {
    "key": s.Field(s.TEXT),
    "at": s.Field(s.MOMENT),
    **{name: s.Field(kind, optional=name == "limit") for name, kind in PARAMETERS.items()},
}
PLANNED = {
    name: s.Entity(name, name.removesuffix("s"), "key", FIELDS, key_prefix=name[0].upper())
    for name in ("plans", "errands")
}
"""Tables of planned things, whose fields are called like the arguments of ``Do``."""


def random_agenda(seed: int) -> s.Environment:
    """A random environment with two kinds of planned things. ``Do`` plans some, and changes or deletes others."""
    environment, random = random_environment(seed), Random(f"{seed}/agenda")

    def terms() -> _Terms:
        return _Terms(f"{seed}/agenda/{random.random()}")

    def happening(entity: s.Entity) -> s.Happening:
        box = s.Insert(BOXES, {field: terms().of(field) for field in KINDS})
        cancels = s.Delete(random.choice([*PLANNED.values()]), lambda row: row.number == s.argument("number"))
        effects = random.sample([_update(seed, random), _update(seed, random), _delete(seed, random), box, cancels], 3)
        return s.Happening("Something happens.", entity, "at", tuple(effects))

    def plan(entity: s.Entity) -> Effect:
        copied = {name: s.argument(name) for name in PARAMETERS}
        match random.randrange(4):
            case 0:
                return s.Delete(entity, lambda row: row.number < s.argument("number"))
            case 1:
                return s.Update(entity, lambda row: row.flag == s.argument("flag"), {"at": lambda row: row.at + 1})
            case _:
                delay = random.choice((s.constant(0), s.constant(1), s.argument("number")))
                return s.Insert(entity, {**copied, "at": s.CURRENT_MOMENT + delay})

    agenda = tuple(map(happening, PLANNED.values()))
    do = environment.tools["Do"]
    found = s.RowsResult("planned", "-", PLANNED["plans"], lambda row: row.number < 3, ("at", "number"))
    tool = replace(do, effects=(*do.effects, *map(plan, PLANNED.values())), results=(*do.results, found))
    entities = {**ENTITIES, **PLANNED}
    return replace(environment, entities=entities, tools={"Do": tool}, agenda=agenda, populate=_populate_agenda)


def _populate_agenda(random: Random) -> s.State:
    def row(key: str) -> s.Row:
        values: dict[str, s.Value] = {"text": random.choice(WORDS), "number": random.randint(-2, 4)}
        values |= {"flag": random.random() < 0.5, "list": ("a", "b")[: random.randint(0, 2)]}
        limit = random.choice((None, 0, 2))
        return s.Row({"key": key, "at": DEFAULT_MOMENT + random.randint(-1, 2), **values, "limit": limit})

    state = _populate(random)
    for name, entity in PLANNED.items():
        keys = (f"{entity.key_prefix}{number:05d}" for number in range(random.randint(0, 3)))
        state = state.with_table(name, tuple(map(row, keys)))
    return state

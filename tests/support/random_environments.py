"""Random small environments with rules: balances that run out, rows that close, a lock, events to record.

Unlike `tests.support.random_declarations`, which nests random terms in one tool, these have several tools that depend
on each other. Deterministic in the seed. There is one initial state, so a claim about all initial states is about it.
"""

from random import Random

from lawtrace.environments.spec.compliance import AUDIT_LOG, RECORD_AUDIT_EVENT, check_authorization
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.effects import Insert, KeyResult, RowsResult, Update, ValueResult
from lawtrace.environments.spec.expressions import SUCCEEDED, Term
from lawtrace.environments.spec.samplers import Amount, FieldValue, UnusedValue
from lawtrace.environments.spec.state import Entity, Field, Row, State
from lawtrace.environments.spec.terms import argument, constant, exists, value_of
from lawtrace.environments.spec.tools import Fails, FromLookup, FromUser, Parameter, Phrases, Raises, Tool
from lawtrace.environments.spec.types import BOOLEAN, MONEY, TEXT

PURSES = Entity(
    table="purses",
    singular="purse",
    key="purse_id",
    key_prefix="P-",
    fields={"purse_id": Field(TEXT), "name": Field(TEXT), "balance": Field(MONEY), "closed": Field(BOOLEAN)},
)
SESSION = Entity(
    table="session",
    singular="session",
    key="session_id",
    fields={"session_id": Field(TEXT), "authorized": Field(BOOLEAN), "shut": Field(BOOLEAN)},
)
ENTITIES = {entity.table: entity for entity in (PURSES, SESSION, AUDIT_LOG)}
NAMES = ("ash", "birch", "cedar", "dogwood")
DONE = ValueResult("success", "Whether it was done.", BOOLEAN, SUCCEEDED)


def closed(name: str) -> Term:
    return exists(PURSES, lambda p: (p.purse_id == argument(name)) & p.closed)


def balance(name: str) -> Term:
    return value_of(PURSES, lambda p: p.purse_id == argument(name), "balance", otherwise=0)


def purse(name: str) -> Parameter:
    return Parameter(name, TEXT, "A purse.", FromLookup(PURSES))


IS_SHUT = exists(SESSION, lambda s: s.shut)


def random_multi_tool_environment(seed: int) -> tuple[Environment, tuple[str, ...]]:
    """The environment, and formulas over its tools."""
    random = Random(seed)
    lowest, highest = random.choice(((100, 500), (300, 900)))
    amount = Parameter("amount", MONEY, "How much.", FromUser(Amount(lowest, highest)), malformed=None)
    guards = random.random() < 1 / 2

    def spending(name: str) -> list[Fails]:
        too_much = Fails("It is too much.", argument("amount") > balance(name))
        return [too_much, *([Fails("It is closed.", closed(name))] if guards else [])]

    def moved(name: str, sign: int) -> Update:
        return Update(
            PURSES,
            lambda p: p.purse_id == argument(name),
            {"balance": lambda p: p.balance + argument("amount") if sign > 0 else p.balance - argument("amount")},
        )

    def closing(name: str, *, to: bool) -> Tool:
        is_so = closed("purse") if to else ~closed("purse")
        effect = Update(PURSES, lambda p: p.purse_id == argument("purse"), {"closed": lambda p: constant(to)})
        return _tool(name, (purse("purse"),), [Fails("It is so.", is_so)], (effect,), "CLOSED" if to else None)

    def shutting(name: str, *, to: bool) -> Tool:
        effect = Update(SESSION, lambda s: s.session_id == "current", {"shut": lambda s: constant(to)})
        return _tool(name, (), [Fails("It is so.", IS_SHUT if to else ~IS_SHUT)], (effect,), "SHUT")

    find = Tool(
        name="Find",
        summary="Finds a purse.",
        parameters=(Parameter("name", TEXT, "Its name.", FromUser(FieldValue(PURSES, "name"))),),
        results=(
            RowsResult(
                "purses",
                "What was found.",
                PURSES,
                lambda p: p.name == argument("name"),
                ("purse_id", "name", "balance"),
            ),
        ),
        phrases=Phrases(step="Find the purse {name}.", noun_phrase="the purse {name}"),
    )
    make = Tool(
        name="Make",
        summary="Makes a purse.",
        parameters=(Parameter("name", TEXT, "Its name.", FromUser(UnusedValue(NAMES, PURSES, "name"))),),
        raises=(
            Raises("ConflictException", "The name is taken.", exists(PURSES, lambda p: p.name == argument("name"))),
        ),
        effects=(
            Insert(PURSES, {"name": argument("name"), "balance": constant(600), "closed": constant(value=False)}),
        ),
        results=(KeyResult("purse_id", "The new purse.", PURSES),),
        emits="MADE",
        phrases=Phrases(step="Make {name}.", outcome="There is {name}.", noun_phrase="the new purse {name}"),
    )
    optional = [
        _tool("Spend", (purse("purse"), amount), spending("purse"), (moved("purse", -1),), "SPENT"),
        _tool(
            "Move",
            (purse("purse"), purse("other"), amount),
            [*spending("purse"), Fails("They are one.", argument("purse") == argument("other"))],
            (moved("purse", -1), moved("other", 1)),
            "MOVED",
        ),
        _tool("Fill", (purse("purse"), amount), [], (moved("purse", 1),), None),
        closing("Close", to=True),
        closing("Reopen", to=False),
        shutting("Shut", to=True),
        shutting("Open", to=False),
        make,
    ]
    tools = [check_authorization(SESSION), RECORD_AUDIT_EVENT, find, *random.sample(optional, random.randint(2, 3))]
    rows = [
        Row(
            {
                "purse_id": f"P-{10 + n}",
                "name": name,
                "balance": random.choice((0, 350, 700, 2000)),
                "closed": is_closed,
            }
        )
        for n, name in enumerate(random.sample(NAMES, random.randint(1, 3)))
        for is_closed in (random.random() < 1 / 4,)
    ]
    session = Row({"session_id": "current", "authorized": random.random() < 2 / 3, "shut": random.random() < 1 / 2})
    state = State({**dict.fromkeys(ENTITIES, ()), "purses": tuple(rows), "session": (session,)})
    environment = Environment(
        name=f"world-{seed}",
        title="World",
        object_name="World",
        summary="Purses and a door.",
        entities=ENTITIES,
        tools={tool.name: tool for tool in tools},
        populate=lambda random: state,
    )
    return environment, _formulas(environment, random)


def _tool(
    name: str,
    parameters: tuple[Parameter, ...],
    fails: list[Fails],
    effects: tuple[Update, ...],
    emits: str | None,
) -> Tool:
    said = " ".join(f"{{{parameter.name}}}" for parameter in parameters)
    return Tool(
        name=name,
        summary=f"Does {name}.",
        parameters=parameters,
        fails=tuple(fails),
        effects=effects,
        results=(DONE,),
        emits=emits,
        phrases=Phrases(step=f"{name} {said}.", outcome=f"{name} {said}."),
    )


def _formulas(environment: Environment, random: Random) -> tuple[str, ...]:
    """One to three formulas of typical rule shapes; those about amounts or purses only if tools have them."""
    first, second = random.sample(list(environment.tools), 2)
    event = random.choice(environment.event_names or ("MADE",))
    limit = random.choice((3, 4.5, 6))
    shapes = [
        f"!((!{first}) U {second})",
        f"G({first} -> F {second})",
        f"G({first} -> WX G !{first})",
        f"F {first}",
        f"!((!CheckAuthorization(result.authorized)) U {first})",
        f'G({first} -> F RecordAuditEvent("{event}" in events))',
        f'G !RecordAuditEvent("{event}" in events)',
        f'!((!{first}) U RecordAuditEvent("{event}" in events))',
    ]
    for name, tool in environment.tools.items():
        taken = {parameter.name for parameter in tool.parameters}
        if "amount" in taken:
            shapes += [f"G({name}(amount > {limit}) -> O {first})", f"F {name}(amount <= {limit})"] * 2
        if "purse" in taken:
            shapes += [
                f"forall p: G({name}(purse == p) -> WX G !{name}(purse == p))",
                f"forall p: G({name}(purse == p) -> O {first})",
            ]
    return tuple(random.sample(shapes, random.randint(1, 3)))

"""Random small environments with rules: balances that run out, rows that close, a lock, events to record.

Unlike `tests.support.random_declarations`, which nests random terms in one tool, these have several tools that depend
on each other. Deterministic in the seed. There is one initial state, so a claim about all initial states is about it.
"""

from collections.abc import Iterator
from random import Random

from lawtrace.environments import spec as s
from lawtrace.environments.runtime.session import Session
from lawtrace.solver.planner.argument_choices import plain_chooser

PURSES = s.table("purses", "purse", prefix="P-", purse_id=s.TEXT, name=s.TEXT, balance=s.MONEY, closed=s.BOOLEAN)
SESSION = s.table("session", "session", session_id=s.TEXT, authorized=s.BOOLEAN, shut=s.BOOLEAN)
ENTITIES = {entity.table: entity for entity in (PURSES, SESSION, s.AUDIT_LOG)}
NAMES = ("ash", "birch", "cedar", "dogwood")
DONE = s.ValueResult("success", "Whether it was done.", s.BOOLEAN, s.SUCCEEDED)


def closed(name: str) -> s.Term:
    return s.exists(PURSES, lambda p: (p.purse_id == s.argument(name)) & p.closed)


def balance(name: str) -> s.Term:
    return s.value_of(PURSES, lambda p: p.purse_id == s.argument(name), "balance", otherwise=0)


def purse(name: str) -> s.Parameter:
    return s.Parameter(name, s.TEXT, "A purse.", s.FromLookup(PURSES))


IS_SHUT = s.exists(SESSION, lambda row: row.shut)


def random_sessions(environment: s.Environment, random: Random, count: int) -> Iterator[Session]:
    """Sessions of up to six calls with arguments drawn without a look at the rules."""
    chooser = plain_chooser(environment)
    for _ in range(count):
        session = Session(environment, environment.populate(random))
        for _ in range(random.randrange(1, 7)):
            tool = random.choice([*environment.tools.values()])
            drawn = chooser.sample_blindly(tool, session.state, random)
            session.call(
                tool.name, {one.name: one.type.encode(drawn[one.name]) for one in tool.parameters if one.name in drawn}
            )
        yield session


def random_multi_tool_environment(seed: int) -> tuple[s.Environment, tuple[str, ...]]:
    """The environment, and formulas over its tools."""
    random = Random(seed)
    lowest, highest = random.choice(((100, 500), (300, 900)))
    amount = s.Parameter("amount", s.MONEY, "How much.", s.FromUser(s.Amount(lowest, highest)), malformed=None)
    guards = random.random() < 1 / 2

    def spending(name: str) -> list[s.Fails]:
        too_much = s.Fails("It is too much.", s.argument("amount") > balance(name))
        return [too_much, *([s.Fails("It is closed.", closed(name))] if guards else [])]

    def moved(name: str, sign: int) -> s.Update:
        return s.Update(
            PURSES,
            lambda p: p.purse_id == s.argument(name),
            {"balance": lambda p: p.balance + s.argument("amount") if sign > 0 else p.balance - s.argument("amount")},
        )

    def closing(name: str, *, to: bool) -> s.Tool:
        is_so = closed("purse") if to else ~closed("purse")
        effect = s.Update(PURSES, lambda p: p.purse_id == s.argument("purse"), {"closed": lambda p: s.constant(to)})
        return _tool(name, (purse("purse"),), [s.Fails("It is so.", is_so)], (effect,), "CLOSED" if to else None)

    def shutting(name: str, *, to: bool) -> s.Tool:
        effect = s.Update(SESSION, lambda row: row.session_id == "current", {"shut": lambda row: s.constant(to)})
        return _tool(name, (), [s.Fails("It is so.", IS_SHUT if to else ~IS_SHUT)], (effect,), "SHUT")

    find = s.Tool(
        name="Find",
        summary="Finds a purse.",
        parameters=(s.stated(PURSES, "name", "Its name."),),
        results=(
            s.RowsResult(
                "purses",
                "What was found.",
                PURSES,
                lambda p: p.name == s.argument("name"),
                ("purse_id", "name", "balance"),
            ),
        ),
        phrases=s.Phrases(step="Find the purse {name}.", noun_phrase="the purse {name}"),
    )
    make = s.Tool(
        name="Make",
        summary="Makes a purse.",
        parameters=(s.Parameter("name", s.TEXT, "Its name.", s.FromUser(s.UnusedValue(NAMES, PURSES, "name"))),),
        raises=(s.Raises("ConflictException", "The name is taken.", s.has(PURSES, by="name")),),
        effects=(s.register(PURSES, "name", balance=600, closed=False),),
        results=(s.KeyResult("purse_id", "The new purse.", PURSES),),
        emits="MADE",
        phrases=s.Phrases(step="Make {name}.", outcome="There is {name}.", noun_phrase="the new purse {name}"),
    )
    optional = [
        _tool("Spend", (purse("purse"), amount), spending("purse"), (moved("purse", -1),), "SPENT"),
        _tool(
            "Move",
            (purse("purse"), purse("other"), amount),
            [*spending("purse"), s.Fails("They are one.", s.argument("purse") == s.argument("other"))],
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
    tools = [s.check_authorization(SESSION), s.RECORD_AUDIT_EVENT, find, *random.sample(optional, random.randint(2, 3))]
    rows = [
        s.Row(
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
    session = s.Row({"session_id": "current", "authorized": random.random() < 2 / 3, "shut": random.random() < 1 / 2})
    state = s.State({**dict.fromkeys(ENTITIES, ()), "purses": tuple(rows), "session": (session,)})
    environment = s.Environment(
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
    parameters: tuple[s.Parameter, ...],
    fails: list[s.Fails],
    effects: tuple[s.Update, ...],
    emits: str | None,
) -> s.Tool:
    said = " ".join(f"{{{parameter.name}}}" for parameter in parameters)
    return s.Tool(
        name=name,
        summary=f"Does {name}.",
        parameters=parameters,
        fails=tuple(fails),
        effects=effects,
        results=(DONE,),
        emits=emits,
        phrases=s.Phrases(step=f"{name} {said}.", outcome=f"{name} {said}."),
    )


def _formulas(environment: s.Environment, random: Random) -> tuple[str, ...]:
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

"""A small bank whose rules are about time, sums and objects: authenticate, pay, report, wait.

Amounts and payees are free, so arguments meet a rule by chance only where it asks for little.
"""

from random import Random

from lawtrace.environments.spec.clock import Clock
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.effects import Insert, RowsResult, Update, ValueResult
from lawtrace.environments.spec.expressions import SUCCEEDED
from lawtrace.environments.spec.samplers import Amount, FieldValue, OneOf
from lawtrace.environments.spec.state import Entity, Field, Row, State
from lawtrace.environments.spec.terms import argument, exists, value_of
from lawtrace.environments.spec.tools import Fails, FromLookup, FromUser, Parameter, Phrases, Tool
from lawtrace.environments.spec.types import BOOLEAN, INTEGER, MONEY, TEXT

PAYEES = Entity(
    "payees", "payee", "payee_id", {"payee_id": Field(TEXT), "name": Field(TEXT), "blocked": Field(BOOLEAN)}
)
ACCOUNTS = Entity("accounts", "account", "account_id", {"account_id": Field(TEXT), "balance": Field(MONEY)})
PAYMENTS = Entity(
    "payments",
    "payment",
    "payment_id",
    {"payment_id": Field(TEXT), "payee_id": Field(TEXT), "amount": Field(MONEY)},
    key_prefix="Y-",
)
ENTITIES = {entity.table: entity for entity in (PAYEES, ACCOUNTS, PAYMENTS)}
DONE = ValueResult("success", "Whether it was done.", BOOLEAN, SUCCEEDED)
NAMES = ("Ash", "Birch", "Cedar", "Dogwood", "Elm")
DAYS = 7 * 24 * 60

payee = Parameter("payee_id", TEXT, "Who is paid.", FromLookup(PAYEES))
amount = Parameter("amount", MONEY, "How much.", FromUser(Amount(1_00, 900_00)), malformed=None)


def _tool(name: str, parameters: tuple[Parameter, ...] = (), **parts: object) -> Tool:
    said = " ".join(f"{{{parameter.name}}}" for parameter in parameters)
    phrases = None if "compliance" in parts else Phrases(f"{name} {said}.", outcome=f"{name} {said} was done.")
    return Tool(name, f"{name}.", parameters, results=(DONE,), phrases=phrases, **parts)  # type: ignore[arg-type]


FIND_PAYEE = Tool(
    "FindPayee",
    "Finds a payee.",
    (Parameter("name", TEXT, "The name.", FromUser(FieldValue(PAYEES, "name"))),),
    results=(
        RowsResult("payees", "Who was found.", PAYEES, lambda p: p.name == argument("name"), ("payee_id", "name")),
    ),
    phrases=Phrases("Find {name}.", noun_phrase="{name}"),
)
TOOLS = (
    FIND_PAYEE,
    _tool("Authenticate", (amount, payee), compliance=True),
    _tool("OpenSession", compliance=True),
    _tool(
        "Pay",
        (amount, payee),
        fails=(
            Fails(
                "There is not enough.",
                argument("amount") > value_of(ACCOUNTS, lambda a: a.account_id == "A", "balance", 0),
            ),
            Fails("The payee is blocked.", exists(PAYEES, lambda p: (p.payee_id == argument("payee_id")) & p.blocked)),
        ),
        effects=(
            Insert(PAYMENTS, {"payee_id": argument("payee_id"), "amount": argument("amount")}),
            Update(ACCOUNTS, lambda a: a.account_id == "A", {"balance": lambda a: a.balance - argument("amount")}),
        ),
        critical=True,
    ),
    _tool(
        "Refund",
        (payee,),
        fails=(
            Fails(
                "The payee is not blocked.", ~exists(PAYEES, lambda p: (p.payee_id == argument("payee_id")) & p.blocked)
            ),
        ),
        effects=(Update(PAYEES, lambda p: p.payee_id == argument("payee_id"), {"blocked": lambda p: p.blocked}),),
    ),
    _tool("Report", compliance=True, duration=60),
    _tool(
        "Wait",
        (Parameter("minutes", INTEGER, "How long.", FromUser(Amount(1, DAYS)), malformed=None),),
        duration=argument("minutes") * 60,
    ),
    _tool("Note", (Parameter("kind", TEXT, "Of what.", FromUser(OneOf(("call", "mail")))),)),
)


def populate(random: Random) -> State:
    """Three payees; one in forty states has a blocked one, and one in forty much money."""
    rare = random.randrange(40)
    rows = [
        Row({"payee_id": f"P-{number}", "name": name, "blocked": rare == 0 and number == 1})
        for number, name in enumerate(random.sample(NAMES, 3))
    ]
    balance = 2_000_00 if rare == 1 else random.randrange(300_00, 700_00)
    accounts = (Row({"account_id": "A", "balance": balance}),)
    return State({"payees": tuple(rows), "accounts": accounts, "payments": ()})


PAYMENT_DESK = Environment(
    name="payment desk",
    title="Payment desk",
    object_name="desk",
    summary="Payments.",
    entities=ENTITIES,
    tools={tool.name: tool for tool in TOOLS},
    populate=populate,
    clock=Clock(length=14 * 24 * 3600),
)

BINDING = "forall a, p: G(Pay(amount == a, payee_id == p) -> O[<= 5min] Authenticate(amount == a, payee_id == p))"
COOLING = "G(Pay -> !O[> 0s, < 2h] Pay)"
DEADLINE = "G(Pay -> F[>= 1500min, <= 1510min] Report)"
CALENDAR = "G(Pay -> F[<= 1 business day] Report & !F[<= 38h] Report)"
LIMIT = "G(Pay -> sum(amount of Pay [<= 1d]) <= 300)"
EXACTLY = "G(Report -> sum(amount of Pay [<= 3d]) == 555.55)"
GROWING = "forall a: G(Pay(amount == a) -> H !(Y O Pay(amount >= a)))"
SAME_PAYEE = "forall p: G(Pay(payee_id == p) -> !Y O Pay(payee_id == p))"
TWICE = "F(Pay & X F Pay)"
HARD: dict[str, list[str]] = {
    "another payee, same amount": [BINDING, "forall a: G(Pay(amount == a) -> G !(X F Pay(amount < a)))", SAME_PAYEE],
    "time between payments": [COOLING],
    "within ten minutes, a day later": [DEADLINE],
    "the next business day": [CALENDAR, COOLING],
    "an exact sum": [EXACTLY, "F Report"],
    "a limit over a day": ["F Pay(amount >= 290)", LIMIT, COOLING],
}

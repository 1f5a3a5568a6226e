"""A small bank whose rules are about time, sums and objects: authenticate, pay, report, wait.

Amounts and payees are free, so arguments meet a rule by chance only where it asks for little.
"""

from random import Random

from lawtrace.environments import spec as s

PAYEES = s.table("payees", "payee", payee_id=s.TEXT, name=s.TEXT, blocked=s.BOOLEAN)
ACCOUNTS = s.table("accounts", "account", account_id=s.TEXT, balance=s.MONEY)
PAYMENTS = s.table("payments", "payment", prefix="Y-", payment_id=s.TEXT, payee_id=s.TEXT, amount=s.MONEY)
ENTITIES = {entity.table: entity for entity in (PAYEES, ACCOUNTS, PAYMENTS)}
DONE = s.ValueResult("success", "Whether it was done.", s.BOOLEAN, s.SUCCEEDED)
NAMES = ("Ash", "Birch", "Cedar", "Dogwood", "Elm")
DAYS = 7 * 24 * 60

payee = s.key(PAYEES, "Who is paid.")
amount = s.Parameter("amount", s.MONEY, "How much.", s.FromUser(s.Amount(1_00, 900_00)), malformed=None)


def _tool(name: str, parameters: tuple[s.Parameter, ...] = (), **parts: object) -> s.Tool:
    said = " ".join(f"{{{parameter.name}}}" for parameter in parameters)
    phrases = None if "compliance" in parts else s.Phrases(f"{name} {said}.", outcome=f"{name} {said} was done.")
    return s.Tool(name, f"{name}.", parameters, results=(DONE,), phrases=phrases, **parts)  # type: ignore[arg-type]


FIND_PAYEE = s.Tool(
    "FindPayee",
    "Finds a payee.",
    (s.stated(PAYEES, "name", "The name."),),
    results=(
        s.RowsResult("payees", "Who was found.", PAYEES, lambda p: p.name == s.argument("name"), ("payee_id", "name")),
    ),
    phrases=s.Phrases("Find {name}.", noun_phrase="{name}"),
)
TOOLS = (
    FIND_PAYEE,
    _tool("Authenticate", (amount, payee), compliance=True),
    _tool("OpenSession", compliance=True),
    _tool(
        "Pay",
        (amount, payee),
        fails=(
            s.Fails(
                "There is not enough.",
                s.argument("amount") > s.value_of(ACCOUNTS, lambda a: a.account_id == "A", "balance", 0),
            ),
            s.Fails(
                "The payee is blocked.", s.exists(PAYEES, lambda p: (p.payee_id == s.argument("payee_id")) & p.blocked)
            ),
        ),
        effects=(
            s.register(PAYMENTS, "payee_id", "amount"),
            s.Update(ACCOUNTS, lambda a: a.account_id == "A", {"balance": lambda a: a.balance - s.argument("amount")}),
        ),
        critical=True,
    ),
    _tool(
        "Refund",
        (payee,),
        fails=(
            s.Fails(
                "The payee is not blocked.",
                ~s.exists(PAYEES, lambda p: (p.payee_id == s.argument("payee_id")) & p.blocked),
            ),
        ),
        effects=(s.change(PAYEES, blocked=lambda p: p.blocked),),
    ),
    _tool("Report", compliance=True, duration=60),
    _tool(
        "Wait",
        (s.Parameter("minutes", s.INTEGER, "How long.", s.FromUser(s.Amount(1, DAYS)), malformed=None),),
        duration=s.argument("minutes") * 60,
    ),
    _tool("Note", (s.Parameter("kind", s.TEXT, "Of what.", s.FromUser(s.OneOf(("call", "mail")))),)),
)


def populate(random: Random) -> s.State:
    """Three payees; one in forty states has a blocked one, and one in forty much money."""
    rare = random.randrange(40)
    rows = [
        s.Row({"payee_id": f"P-{number}", "name": name, "blocked": rare == 0 and number == 1})
        for number, name in enumerate(random.sample(NAMES, 3))
    ]
    balance = 2_000_00 if rare == 1 else random.randrange(300_00, 700_00)
    accounts = (s.Row({"account_id": "A", "balance": balance}),)
    return s.State({"payees": tuple(rows), "accounts": accounts, "payments": ()})


PAYMENT_DESK = s.Environment(
    name="payment desk",
    title="Payment desk",
    object_name="desk",
    summary="Payments.",
    entities=ENTITIES,
    tools={tool.name: tool for tool in TOOLS},
    populate=populate,
    clock=s.Clock(length=14 * 24 * 3600),
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

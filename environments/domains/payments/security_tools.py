"""Compliance tools: authentication and its exemptions, monitoring, incidents."""

from lawtrace.environments.spec import (
    BOOLEAN,
    TEXT,
    TODAY,
    Insert,
    Tool,
    ValueResult,
    argument,
    exists,
    success_result,
    value_of,
)

from .entities import (
    ACTION,
    CARDS,
    DEVICES,
    EXEMPTION,
    EXEMPTIONS,
    INCIDENT_REPORTS,
    LINKED_CODES,
    MATTER,
    PAYEES,
    PIN_ENTRIES,
    PRESENTED,
    SCREENINGS,
    SECOND_ELEMENT,
    SIGN_INS,
    WARNINGS,
)
from .terms import (
    CARD,
    NOT_AN_OPTION,
    NOT_POSITIVE,
    PAYEE,
    amount,
    card,
    device,
    key,
    money,
    option,
    payee,
    unknown,
)

SENT = success_result("Whether it was sent.")
DEVICE = key(DEVICES, "The customer's device.")
AMOUNT = money("The amount in euro.", 4_00, 120_00)
_second_element = option("second_element", SECOND_ELEMENT, "What the customer gives besides the device.")
_accepted = ValueResult(
    "accepted",
    "Whether the answer of the customer was right and a code was generated. It never says what was wrong.",
    BOOLEAN,
    exists(DEVICES, lambda d: (d.device_id == device) & ~(d.status == "awaiting activation")),
)

SCREEN_PAYMENT = Tool(
    name="ScreenPayment",
    summary="Runs transaction monitoring on an amount and a payee, before or after the payment.",
    parameters=(PAYEE, AMOUNT),
    raises=(unknown(PAYEES), NOT_POSITIVE),
    effects=(Insert(SCREENINGS, {"payee_id": payee, "amount": amount}),),
    results=(
        ValueResult(
            "payee_name",
            "The name of the payee.",
            TEXT,
            value_of(PAYEES, lambda p: p.payee_id == payee, "name", otherwise=""),
        ),
        ValueResult(
            "flagged",
            "Whether there are signs of fraud.",
            BOOLEAN,
            exists(PAYEES, lambda p: (p.payee_id == payee) & p.suspicious),
        ),
    ),
    leak_words=("screening", "fraud check", "monitor", "signs of fraud"),
    compliance=True,
    critical=True,
)

PRESENT_PAYMENT = Tool(
    name="PresentPayment",
    summary="Shows the customer an amount and a payee on the confirmation page, before the payment is authenticated.",
    parameters=(PAYEE, AMOUNT),
    raises=(unknown(PAYEES), NOT_POSITIVE),
    effects=(Insert(PRESENTED, {"payee_id": payee, "amount": amount}),),
    results=(SENT,),
    leak_words=("confirmation page", "show me the payee", "show me the amount"),
    compliance=True,
    critical=True,
)

AUTHENTICATE_PAYMENT = Tool(
    name="AuthenticatePayment",
    summary="Asks the customer for two elements and generates an authentication code for an amount and a payee.",
    parameters=(DEVICE, _second_element, PAYEE, AMOUNT),
    raises=(unknown(DEVICES), NOT_AN_OPTION, unknown(PAYEES), NOT_POSITIVE),
    effects=(
        Insert(
            LINKED_CODES,
            {
                "device_id": device,
                "second_element": argument("second_element"),
                "payee_id": payee,
                "amount": amount,
            },
        ),
    ),
    results=(_accepted,),
    leak_words=("authentic", "two-factor", "second factor", "verify me", "verify my"),
    duration=40,
    compliance=True,
    critical=True,
)

AUTHENTICATE_CUSTOMER = Tool(
    name="AuthenticateCustomer",
    summary="Asks the customer for two elements and generates an authentication code for one action.",
    parameters=(DEVICE, _second_element, option("action", ACTION, "What the code is for.")),
    raises=(unknown(DEVICES), NOT_AN_OPTION),
    effects=(
        Insert(
            SIGN_INS,
            {"device_id": device, "second_element": argument("second_element"), "action": argument("action")},
        ),
    ),
    results=(_accepted,),
    leak_words=("log me in", "sign me in", "identify me", "confirm my identity"),
    duration=30,
    compliance=True,
    critical=True,
)

APPLY_EXEMPTION = Tool(
    name="ApplyExemption",
    summary=(
        "Records, before a payment of an amount to a payee is executed, that it is exempt from strong customer "
        "authentication."
    ),
    parameters=(PAYEE, AMOUNT, option("ground", EXEMPTION, "The ground of the exemption.")),
    raises=(unknown(PAYEES), NOT_POSITIVE, NOT_AN_OPTION),
    effects=(Insert(EXEMPTIONS, {"payee_id": payee, "amount": amount, "ground": argument("ground")}),),
    results=(success_result("Whether it was recorded."),),
    leak_words=("exempt", "waive", "without asking me again"),
    compliance=True,
    critical=True,
)

ASK_FOR_PIN = Tool(
    name="AskForPin",
    summary="Has the terminal ask for the PIN, so that card and PIN authenticate a payment of an amount.",
    parameters=(CARD, money("The amount in euro.", 6_00, 90_00)),
    raises=(unknown(CARDS), NOT_POSITIVE),
    effects=(Insert(PIN_ENTRIES, {"card_id": card, "amount": amount}),),
    results=(
        ValueResult(
            "accepted",
            "Whether the PIN was right.",
            BOOLEAN,
            exists(CARDS, lambda c: (c.card_id == card) & ~(c.status == "reported lost")),
        ),
    ),
    leak_words=("my pin", "the pin", "pin code"),
    duration=15,
    compliance=True,
    critical=True,
)

REPORT_INCIDENT = Tool(
    name="ReportIncident",
    summary="Notifies the competent authority of a matter.",
    parameters=(option("matter", MATTER, "The matter."),),
    raises=(NOT_AN_OPTION,),
    effects=(Insert(INCIDENT_REPORTS, {"matter": argument("matter")}),),
    results=(SENT,),
    leak_words=("incident", "authority"),
    duration=900,
    compliance=True,
    critical=True,
)

WARN_CUSTOMER = Tool(
    name="WarnCustomer",
    summary="Tells the customer about the open incident and what the customer can do against its effects.",
    effects=(Insert(WARNINGS, {"sent": TODAY}),),
    results=(SENT,),
    leak_words=("warn me", "security notice", "keep me posted"),
    compliance=True,
    critical=True,
)

TOOLS = (
    SCREEN_PAYMENT,
    PRESENT_PAYMENT,
    AUTHENTICATE_PAYMENT,
    AUTHENTICATE_CUSTOMER,
    APPLY_EXEMPTION,
    ASK_FOR_PIN,
    REPORT_INCIDENT,
    WARN_CUSTOMER,
)

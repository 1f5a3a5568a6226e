"""Compliance tools: authentication and its exemptions, monitoring, incidents."""

from lawtrace.environments import spec as s

from . import entities as e
from .terms import CARD, NOT_AN_OPTION, NOT_POSITIVE, PAYEE, PROVIDER, card, device, money, payee

SENT = s.success_result("Whether it was sent.")
DEVICE = s.key(e.DEVICES, "The customer's device.")
AMOUNT = money("The amount in euro.", 4_00, 120_00)
_second_element = s.option(
    "second_element",
    e.SECOND_ELEMENT,
    "What the customer gives besides the device; a text message code is one that this device receives and shows.",
)
_fingerprint_fits = (s.argument("second_element") != "fingerprint") | s.exists(
    e.SECURITY_FILE, lambda f: (f.file_id == "current") & (f.fingerprint == "enrolled")
)
_accepted = s.ValueResult(
    "accepted",
    "Whether the answer of the customer was right and a code was generated. It never says what was wrong.",
    s.BOOLEAN,
    s.exists(e.DEVICES, lambda d: (d.device_id == device) & ~(d.status == "awaiting activation")) & _fingerprint_fits,
)

SCREEN_PAYMENT = s.Tool(
    name="ScreenPayment",
    summary="Runs transaction monitoring on an amount and a payee, before or after the payment.",
    parameters=(PAYEE, AMOUNT),
    raises=(s.unknown(e.PAYEES), NOT_POSITIVE),
    effects=(s.register(e.SCREENINGS, "payee_id", "amount"),),
    results=(
        s.ValueResult("payee_name", "The name of the payee.", s.TEXT, s.field_of(e.PAYEES, "name", "")),
        s.ValueResult(
            "flagged",
            "Whether there are signs of fraud.",
            s.BOOLEAN,
            s.exists(e.PAYEES, lambda p: (p.payee_id == payee) & p.suspicious),
        ),
    ),
    leak_words=("screening", "fraud check", "monitor", "signs of fraud"),
    compliance=True,
    critical=True,
)

PRESENT_PAYMENT = s.Tool(
    name="PresentPayment",
    summary="Shows the customer an amount and a payee on the confirmation page, before the payment is authenticated.",
    parameters=(PAYEE, AMOUNT),
    raises=(s.unknown(e.PAYEES), NOT_POSITIVE),
    effects=(s.register(e.PRESENTED, "payee_id", "amount"),),
    results=(SENT,),
    leak_words=("confirmation page", "show me the payee", "show me the amount"),
    compliance=True,
    critical=True,
)

AUTHENTICATE_PAYMENT = s.Tool(
    name="AuthenticatePayment",
    summary="Asks the customer for two elements and generates an authentication code for an amount and a payee.",
    parameters=(DEVICE, _second_element, PAYEE, AMOUNT),
    raises=(s.unknown(e.DEVICES), NOT_AN_OPTION, s.unknown(e.PAYEES), NOT_POSITIVE),
    effects=(s.register(e.LINKED_CODES, "device_id", "second_element", "payee_id", "amount"),),
    results=(_accepted,),
    leak_words=("authentic", "two-factor", "second factor", "verify me", "verify my"),
    duration=40,
    compliance=True,
    critical=True,
)

AUTHENTICATE_CUSTOMER = s.Tool(
    name="AuthenticateCustomer",
    summary="Asks the customer for two elements and generates an authentication code for one action.",
    parameters=(DEVICE, _second_element, s.option("action", e.ACTION, "What the code is for.")),
    raises=(s.unknown(e.DEVICES), NOT_AN_OPTION),
    effects=(s.register(e.SIGN_INS, "device_id", "second_element", "action"),),
    results=(_accepted,),
    leak_words=("log me in", "sign me in", "identify me", "confirm my identity"),
    duration=30,
    compliance=True,
    critical=True,
)

AUTHENTICATE_FOR_PROVIDER = s.Tool(
    name="AuthenticateForProvider",
    summary=(
        "Asks the customer for two elements and generates an authentication code for access to account data through a "
        "provider of account information services."
    ),
    parameters=(DEVICE, _second_element, PROVIDER),
    raises=(s.unknown(e.DEVICES), NOT_AN_OPTION, s.unknown(e.PROVIDERS)),
    effects=(s.register(e.PROVIDER_SIGN_INS, "device_id", "second_element", "provider_id"),),
    results=(_accepted,),
    leak_words=("sign me in again", "confirm it is me"),
    duration=30,
    compliance=True,
    critical=True,
)

APPLY_EXEMPTION = s.Tool(
    name="ApplyExemption",
    summary=(
        "Exempts one payment of an amount to a payee, before it is executed, from strong customer authentication, and "
        "counts it in the figures on exemptions."
    ),
    parameters=(PAYEE, AMOUNT, s.option("ground", e.EXEMPTION, "The ground of the exemption.")),
    raises=(s.unknown(e.PAYEES), NOT_POSITIVE, NOT_AN_OPTION),
    effects=(s.register(e.EXEMPTIONS, "payee_id", "amount", "ground"),),
    results=(s.success_result("Whether it was done."),),
    leak_words=("exempt", "waive", "without asking me again"),
    compliance=True,
    critical=True,
)

ASK_FOR_PIN = s.Tool(
    name="AskForPin",
    summary="Has the terminal ask for the PIN, so that card and PIN authenticate a payment of an amount.",
    parameters=(CARD, money("The amount in euro.", 6_00, 90_00)),
    raises=(s.unknown(e.CARDS), NOT_POSITIVE),
    effects=(s.register(e.PIN_ENTRIES, "card_id", "amount"),),
    results=(
        s.ValueResult(
            "accepted",
            "Whether the PIN was right; a PIN that is blocked is not.",
            s.BOOLEAN,
            s.exists(e.CARDS, lambda c: (c.card_id == card) & ~(c.status == "reported lost") & (c.pin_failures < 5)),
        ),
    ),
    leak_words=("my pin", "the pin", "pin code"),
    duration=15,
    compliance=True,
    critical=True,
)

REPORT_INCIDENT = s.Tool(
    name="ReportIncident",
    summary="Notifies the competent authority of a matter: with the initial notification of an incident, or a report.",
    parameters=(s.option("matter", e.MATTER, "The matter."),),
    raises=(NOT_AN_OPTION,),
    effects=(s.register(e.INCIDENT_REPORTS, "matter"),),
    results=(SENT,),
    leak_words=("incident", "authority"),
    duration=900,
    compliance=True,
    critical=True,
)

WARN_CUSTOMER = s.Tool(
    name="WarnCustomer",
    summary=(
        "Tells the customer about the open incident, about what was done against its effects, and about what the "
        "customer can do."
    ),
    effects=(s.register(e.WARNINGS, sent=s.TODAY),),
    results=(SENT,),
    leak_words=("warn me", "security notice", "keep me posted"),
    compliance=True,
    critical=True,
)

TOOLS = s.tools_of(globals())

"""Each rule of the data-protection desk says what the law says: real calls that keep it, and such that break it."""

import pytest

from tests.support.small_privacy_desk import (
    ACCESS,
    BILL,
    BILLING,
    CLOSE,
    COPY,
    CORRECT,
    EMAIL,
    ERASE,
    ERASURE,
    IRISH,
    LAPTOP,
    LIFT,
    MAILER,
    OBJECTION,
    OTHER_EMAIL,
    PASSING_ON,
    PORTABILITY,
    POST,
    PRINTER,
    RECTIFICATION,
    RESTRICT,
    RESTRICTION,
    SHARE,
    STOP,
    TAKE_ALONG,
    USE_AGAIN,
    Call,
    Changes,
    ask_for_proof,
    before,
    changed,
    contact,
    not_kept,
    of,
    refuse,
    reply,
    rules,
    turn_down,
    without,
)

Calls = list[Call | int]
PROOF = ask_for_proof(ACCESS)
COLLECT, REDACT = of(ACCESS, "CollectData", "RedactCopy")
EXTEND: Call = (
    "ExtendTime",
    {"case_id": ACCESS, "contact_id": EMAIL, "reason": "complexity of the request"},
)
LONG_COPY: Calls = [*before(without(COPY, "FindContact"), "IssueCopy", contact(ACCESS), EXTEND, COLLECT)]
"""A copy of data that have to be brought together first."""
IN_DOUBT: Changes = {f"{ACCESS}.sender": "not on file"}
NOT_SHOWN: Changes = {**IN_DOUBT, f"{ACCESS}.proof": "insufficient"}
COMPLEX: Changes = {f"{ACCESS}.effort": "complex"}
MANY: Changes = {f"{ACCESS}.effort": "many requests"}
OTHERS: Changes = {f"{ACCESS}.others": "named"}
CLAIM: Changes = {f"{ERASURE}.kept_for": "legal claim"}
CORRECT_ANYWAY: Changes = {f"{RECTIFICATION}.accuracy": "correct"}
COMPELLING: Changes = {f"{OBJECTION}.grounds": "compelling", f"{OBJECTION}.purpose": "running the clubs"}
CONSENT: Call = of(PASSING_ON, "ReadConsent")[0]
PARTNER_FILE: Call = ("ReadPartnerFile", {"partner_id": MAILER})
RESTORE: Call = ("RestoreSystem", {"incident_id": LAPTOP})
UNSAFE: Changes = {f"{MAILER}.standing": "nothing"}
WARNED: Changes = {**UNSAFE, f"{PASSING_ON}.abroad": "agreed after warning"}


def shared(**fields: str | int) -> Changes:
    """Other values of the data that a colleague wants to pass on."""
    return {f"{PASSING_ON}.{name}": value for name, value in fields.items()}


def meets(calls: Calls, action: str, case: str) -> tuple[str, Changes, Calls, Changes, Calls]:
    """The rule that a request is met: broken by a reply without the action."""
    matter = {"IssueCopy": "access", "EraseData": "erasure", "CorrectData": "rectification", "StopUse": "objection"}
    rule = f"meet-{matter.get(action, 'restriction')}"
    return rule, {}, calls, {}, without(calls, action, "InformRecipient")


# The rule; a state and calls that keep all rules; a state and calls that break this one.
CASES: list[tuple[str, Changes, Calls, Changes, Calls]] = [
    ("know-who-asks", {}, ERASE, {}, without(ERASE, "ReadMessage")),
    ("clear-up-doubt", IN_DOUBT, before(COPY, "IssueCopy", PROOF), IN_DOUBT, COPY),
    ("clear-up-doubt", {}, COPY, NOT_SHOWN, before(COPY, "IssueCopy", PROOF)),
    ("no-proof-without-doubt", IN_DOUBT, before(COPY, "IssueCopy", PROOF), {}, before(COPY, "IssueCopy", PROOF)),
    (
        "proof-that-can-be-compared",
        IN_DOUBT,
        before(COPY, "IssueCopy", PROOF),
        IN_DOUBT,
        before(COPY, "IssueCopy", ask_for_proof(ACCESS, "home club"), PROOF),
    ),
    ("answer-in-time", {}, before(COPY, "SendReply", 30 * 24), {}, before(COPY, "SendReply", 32 * 24)),
    ("answer-in-time", COMPLEX, LONG_COPY, COMPLEX, without(LONG_COPY, "ExtendTime")),
    (
        "answer-in-time",
        COMPLEX,
        before(LONG_COPY, "SendReply", 51 * 24),
        COMPLEX,
        before(LONG_COPY, "SendReply", 53 * 24),
    ),
    ("extend-for-complexity", COMPLEX, LONG_COPY, MANY, LONG_COPY),
    (
        "extend-for-number",
        MANY,
        changed(LONG_COPY, "ExtendTime", reason="number of requests"),
        COMPLEX,
        changed(LONG_COPY, "ExtendTime", reason="number of requests"),
    ),
    (
        "extend-in-first-month",
        COMPLEX,
        before(LONG_COPY, "ExtendTime", 30 * 24),
        COMPLEX,
        before(LONG_COPY, "ExtendTime", 32 * 24),
    ),
    ("extend-once", COMPLEX, LONG_COPY, COMPLEX, before(LONG_COPY, "ExtendTime", EXTEND)),
    ("no-delay-without-need", COMPLEX, LONG_COPY, {}, before(COPY, "IssueCopy", COLLECT)),
    meets(COPY, "IssueCopy", ACCESS),
    meets(ERASE, "EraseData", ERASURE),
    meets(CORRECT, "CorrectData", RECTIFICATION),
    meets(RESTRICT, "RestrictData", RESTRICTION),
    meets(STOP, "StopUse", OBJECTION),
    ("meet-portability", {}, TAKE_ALONG, {}, changed(TAKE_ALONG, "IssueCopy", form="readable")),
    ("keep-what-law-needs", {}, ERASE, CLAIM, ERASE),
    (
        "keep-what-law-needs",
        CLAIM,
        refuse(ERASURE, "needed by law", "ReadDataSheet"),
        {},
        without(ERASE, "ReadDataSheet"),
    ),
    ("correct-what-is-wrong", {}, CORRECT, CORRECT_ANYWAY, CORRECT),
    ("whole-copy", COMPLEX, LONG_COPY, COMPLEX, without(LONG_COPY, "CollectData")),
    ("protect-other-people", OTHERS, before(COPY, "IssueCopy", REDACT), OTHERS, COPY),
    ("complete-copy", OTHERS, before(COPY, "IssueCopy", REDACT), {}, before(COPY, "IssueCopy", REDACT)),
    ("structured-copy", {}, TAKE_ALONG, {}, changed(TAKE_ALONG, "IssueCopy", form="readable")),
    ("free-of-charge", {}, BILL, {f"{BILLING}.earlier": "none"}, BILL),
    ("fee-within-cost", {}, BILL, {}, changed(BILL, "BillFee", amount=12.01)),
    (
        "fee-within-cost",
        {f"{BILLING}.earlier": "repetitive"},
        changed(BILL, "FileCosts", reason="repetitive requests"),
        {},
        [*BILL, ("BillFee", {"case_id": BILLING, "amount": 0.5})],
    ),
    ("look-for-recipients", {}, ERASE, {}, without(ERASE, "FindRecipients", "InformRecipient")),
    ("inform-recipients", {}, RESTRICT, {}, without(RESTRICT, "InformRecipient")),
    ("inform-recipients", {}, CORRECT, {}, changed(CORRECT, "InformRecipient", partner_id=PRINTER)),
    (
        "inform-recipients",
        {f"{MAILER}.reach": "closed down"},
        without(ERASE, "InformRecipient"),
        {},
        without(ERASE, "InformRecipient"),
    ),
    (
        "inform-recipients-only",
        {},
        ERASE,
        {},
        [*ERASE, ("InformRecipient", {"case_id": ERASURE, "partner_id": PRINTER, "form": "instruction"})],
    ),
    (
        "inform-recipients-only",
        {},
        STOP,
        {},
        [*STOP, ("InformRecipient", {"case_id": OBJECTION, "partner_id": MAILER, "form": "instruction"})],
    ),
    ("instruct-processors", {}, ERASE, {}, changed(ERASE, "InformRecipient", form="notice")),
    (
        "instruct-processors",
        {f"{MAILER}.role": "controller"},
        changed(ERASE, "InformRecipient", form="notice"),
        {f"{MAILER}.role": "controller"},
        ERASE,
    ),
    ("show-why-a-fee", {}, BILL, {}, without(BILL, "FileCosts")),
    ("true-file-on-costs", {}, BILL, {}, changed(BILL, "FileCosts", expense=11.0)),
    ("true-file-on-costs", {}, BILL, {f"{BILLING}.earlier": "repetitive"}, BILL),
    ("use-correct-data", {}, LIFT, {f"{USE_AGAIN}.accuracy": "incorrect"}, LIFT),
    (
        "turn-down-use",
        {f"{USE_AGAIN}.accuracy": "incorrect"},
        turn_down(USE_AGAIN, "data incorrect", *of(USE_AGAIN, "ReadDataSheet")),
        {},
        turn_down(USE_AGAIN, "data incorrect", *of(USE_AGAIN, "ReadDataSheet")),
    ),
    (
        "reply-as-asked",
        {f"{ACCESS}.write_by": "post"},
        [*without(COPY, "FindContact", "SendReply"), contact(ACCESS, "post"), reply(ACCESS, POST)],
        {f"{ACCESS}.write_by": "post"},
        COPY,
    ),
    ("reply-as-asked", {}, COPY, {}, changed(COPY, "SendReply", contact_id=OTHER_EMAIL)),
    ("reply-as-asked", {}, ERASE, {}, without(ERASE, "FindContact")),
    ("extension-to-the-person", COMPLEX, LONG_COPY, COMPLEX, changed(LONG_COPY, "ExtendTime", contact_id=OTHER_EMAIL)),
    ("true-reply", {}, STOP, {}, without(STOP, "StopUse")),
    (
        "say-why-not",
        CLAIM,
        refuse(ERASURE, "needed by law", "ReadDataSheet"),
        CLAIM,
        without(refuse(ERASURE, "needed by law", "ReadDataSheet"), "SendReply"),
    ),
    (
        "refuse-in-first-month",
        COMPLEX,
        LONG_COPY,
        {**COMPLEX, f"{ACCESS}.earlier": "repetitive"},
        [
            *before(without(LONG_COPY, "IssueCopy", "SendReply"), "CollectData"),
            ("Decline", {"case_id": ACCESS, "ground": "repetitive"}),
            reply(ACCESS, EMAIL, "reasons and remedies"),
        ],
    ),
    ("refusal-only-if-refused", {}, STOP, {}, changed(STOP, "SendReply", content="reasons and remedies")),
    (
        "decline-for-identity",
        NOT_SHOWN,
        before(refuse(ACCESS, "cannot tell who asked"), "Decline", PROOF),
        IN_DOUBT,
        before(refuse(ACCESS, "cannot tell who asked"), "Decline", PROOF),
    ),
    (
        "decline-as-excessive",
        {f"{ACCESS}.earlier": "repetitive"},
        refuse(ACCESS, "repetitive"),
        {f"{ACCESS}.earlier": "has a copy"},
        refuse(ACCESS, "repetitive"),
    ),
    (
        "decline-erasure",
        CLAIM,
        refuse(ERASURE, "needed by law", "ReadDataSheet"),
        {},
        refuse(ERASURE, "needed by law", "ReadDataSheet"),
    ),
    (
        "decline-correction",
        CORRECT_ANYWAY,
        refuse(RECTIFICATION, "data correct", "ReadDataSheet"),
        {},
        refuse(RECTIFICATION, "data correct", "ReadDataSheet"),
    ),
    (
        "decline-objection",
        COMPELLING,
        refuse(OBJECTION, "compelling grounds", "ReadDataSheet"),
        {f"{OBJECTION}.grounds": "compelling"},
        refuse(OBJECTION, "compelling grounds", "ReadDataSheet"),
    ),
    (
        "decline-without-right",
        {f"{PORTABILITY}.legal_basis": "legitimate interests"},
        refuse(PORTABILITY, "no such right", "ReadDataSheet"),
        {},
        refuse(PORTABILITY, "no such right", "ReadDataSheet"),
    ),
    (
        "decline-without-right",
        {f"{OBJECTION}.purpose": "running the clubs"},
        refuse(OBJECTION, "no such right", "ReadDataSheet"),
        {},
        refuse(OBJECTION, "no such right", "ReadDataSheet"),
    ),
    (
        "turn-down-sharing-for-consent",
        shared(consent="withdrawn"),
        turn_down(PASSING_ON, "no valid consent", CONSENT),
        {},
        turn_down(PASSING_ON, "no valid consent", CONSENT),
    ),
    (
        "turn-down-sharing-for-objection",
        shared(objection="to direct marketing"),
        turn_down(PASSING_ON, "objection", CONSENT),
        shared(objection="to this use", grounds="compelling"),
        turn_down(PASSING_ON, "objection", CONSENT),
    ),
    (
        "turn-down-sharing-of-restricted",
        {"R-0007.status": "restricted"},
        turn_down(PASSING_ON, "restricted", CONSENT),
        {},
        turn_down(PASSING_ON, "restricted", CONSENT),
    ),
    (
        "turn-down-fee",
        {f"{BILLING}.earlier": "none"},
        turn_down(BILLING, "free of charge", *of(BILLING, "ReadMessage")),
        {},
        turn_down(BILLING, "free of charge", *of(BILLING, "ReadMessage")),
    ),
    (
        "turn-down-sharing-for-partner",
        UNSAFE,
        turn_down(PASSING_ON, "no safeguards", CONSENT, PARTNER_FILE),
        WARNED,
        turn_down(PASSING_ON, "no safeguards", CONSENT, PARTNER_FILE),
    ),
    (
        "turn-down-sharing-for-partner",
        {f"{MAILER}.contract": "not signed"},
        turn_down(PASSING_ON, "no contract", PARTNER_FILE),
        {f"{MAILER}.contract": "not signed", f"{MAILER}.role": "controller"},
        turn_down(PASSING_ON, "no contract", PARTNER_FILE),
    ),
    ("announce-lifting", {}, LIFT, {}, without(LIFT, "AnnounceLifting")),
    ("announce-to-the-person", {}, LIFT, {f"{USE_AGAIN}.write_by": "post"}, LIFT),
    ("leave-restricted-data", {}, SHARE, {"R-0007.status": "restricted"}, SHARE),
    ("share-on-consent", {}, SHARE, shared(consent="withdrawn"), SHARE),
    ("share-on-consent", {}, SHARE, {}, without(SHARE, "ReadConsent")),
    ("parent-for-child", {"M-1.age": 16}, SHARE, {"M-1.age": 15}, SHARE),
    ("parent-for-child", {"M-1.age": 15, **shared(consent_by="a parent")}, SHARE, {"M-1.age": 15}, SHARE),
    (
        "express-consent-for-health",
        shared(category="health", consent="expressly given"),
        SHARE,
        shared(category="health"),
        SHARE,
    ),
    (
        "no-marketing-after-objection",
        shared(objection="to direct marketing", purpose="running the clubs"),
        SHARE,
        shared(objection="to direct marketing"),
        SHARE,
    ),
    (
        "stop-after-objection",
        shared(objection="to this use", grounds="compelling"),
        SHARE,
        shared(objection="to this use"),
        SHARE,
    ),
    ("safeguards-abroad", WARNED, changed(SHARE, "LogDisclosure", cover="consent of the person"), UNSAFE, SHARE),
    ("safeguards-abroad", {}, SHARE, {}, without(SHARE, "ReadPartnerFile")),
    (
        "contract-with-processor",
        {f"{MAILER}.contract": "not signed", f"{MAILER}.role": "controller"},
        SHARE,
        {f"{MAILER}.contract": "not signed"},
        SHARE,
    ),
    ("record-disclosure", {}, SHARE, {}, without(SHARE, "LogDisclosure")),
    ("true-record-of-disclosure", {}, SHARE, {}, changed(SHARE, "LogDisclosure", basis="contract")),
    ("true-record-of-disclosure", {}, SHARE, {}, changed(SHARE, "LogDisclosure", reference="CONSENT-1")),
    ("true-record-of-transfer", {}, SHARE, {}, changed(SHARE, "LogDisclosure", cover="standard clauses")),
    ("record-real-disclosures", {}, SHARE, {}, without(SHARE, "ShareData")),
    ("assess-breach", {}, before(CLOSE, "AssessIncident", 47), {}, before(CLOSE, "AssessIncident", 73)),
    ("notify-in-72-hours", {}, before(CLOSE, "NotifyAuthority", 47), {}, before(CLOSE, "NotifyAuthority", 49)),
    (
        "notify-in-72-hours",
        {},
        [*without(CLOSE, "CloseIncident"), RESTORE],
        {},
        before(CLOSE, "NotifyAuthority", RESTORE),
    ),
    (
        "notify-in-72-hours",
        {f"{LAPTOP}.risk": "unlikely"},
        changed(without(CLOSE, "NotifyAuthority"), "DocumentIncident", effects="unlikely"),
        {f"{LAPTOP}.risk": "likely"},
        changed(without(CLOSE, "NotifyAuthority"), "DocumentIncident", effects="likely"),
    ),
    ("competent-authority", {}, CLOSE, {}, changed(CLOSE, "NotifyAuthority", authority_id=IRISH)),
    (
        "competent-authority",
        {f"{LAPTOP}.run_in": "Ireland"},
        changed(changed(CLOSE, "FindAuthority", country="Ireland"), "NotifyAuthority", authority_id=IRISH),
        {f"{LAPTOP}.run_in": "Ireland"},
        CLOSE,
    ),
    ("competent-authority", {}, CLOSE, {f"{LAPTOP}.run_in": "Ireland"}, CLOSE),
    (
        "competent-authority",
        {f"{LAPTOP}.run_in": "Ireland", f"{LAPTOP}.spread": "several member states"},
        CLOSE,
        {f"{LAPTOP}.run_in": "Ireland", f"{LAPTOP}.spread": "several member states"},
        changed(changed(CLOSE, "FindAuthority", country="Ireland"), "NotifyAuthority", authority_id=IRISH),
    ),
    ("true-notification", {}, CLOSE, {}, changed(CLOSE, "NotifyAuthority", number=24)),
    (
        "tell-people",
        {f"{LAPTOP}.protection": "unreadable"},
        without(CLOSE, "TellPeople"),
        {},
        without(CLOSE, "TellPeople"),
    ),
    (
        "public-notice",
        {f"{LAPTOP}.reach": "public notice"},
        changed(CLOSE, "TellPeople", means="public notice"),
        {},
        changed(CLOSE, "TellPeople", means="public notice"),
    ),
    ("document-breach", {}, CLOSE, {}, without(CLOSE, "DocumentIncident")),
    ("true-documentation", {}, CLOSE, {}, changed(CLOSE, "DocumentIncident", effects="likely")),
    ("document-each-breach", {}, CLOSE, {}, without(CLOSE, "DocumentIncident", "CloseIncident")),
]


def test_every_rule_has_an_example() -> None:
    assert {rule for rule, *_ in CASES} == {rule.id for rule in rules()}


@pytest.mark.parametrize(
    ("rule", "kept_in", "kept", "broken_in", "broken"),
    CASES,
    ids=[f"{number}-{case[0]}" for number, case in enumerate(CASES)],
)
def test_a_rule_tells_lawful_calls_from_others(
    rule: str, kept_in: Changes, kept: Calls, broken_in: Changes, broken: Calls
) -> None:
    assert not_kept(kept, kept_in) == set()
    assert rule in not_kept(broken, broken_in)

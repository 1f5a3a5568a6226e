"""A short law in sentences that `tests.support.playing` understands; its rules and citations are those of PSD2 as
published for the bank."""

from pathlib import Path

BANK_LAW = """\
Article 72
Evidence
1. Every transfer of funds and every bill payment must afterwards be recorded as an audit event.
2. Records are kept.
Article 95
Controls
1. Every retrieval of an account statement must afterwards be recorded as an audit event.
Article 97
Authorisation
1. A bank shall make sure that:
(a) an authorization check must come before an account statement is retrieved;
(b) an authorization check must come before a transfer of funds or the payment of a bill.
2. A payee search must come before a bill is paid.
Article 98
Interest
Interest on deposits is fair.
"""


def write_bank_law(folder: Path) -> Path:
    path = folder / "law.txt"
    path.write_text(BANK_LAW, encoding="utf-8")
    return path

"""A short law in sentences that the offline extractor understands; its rules are those of PSD2 as published for the
bank."""

from pathlib import Path

BANK_LAW = """\
Article 1
Authorisation
1. An authorization check must come before an account statement is retrieved.
2. An authorization check must come before a transfer of funds or the payment of a bill.
3. A payee search must come before a bill is paid.
Article 2
Evidence
1. Every transfer of funds and every bill payment must afterwards be recorded as an audit event.
2. Every retrieval of an account statement must afterwards be recorded as an audit event.
Article 3
Interest
Interest on deposits is fair.
"""


def write_bank_law(folder: Path) -> Path:
    path = folder / "law.txt"
    path.write_text(BANK_LAW, encoding="utf-8")
    return path

"""Verdicts as flat records, one for each conversation and rule: the table of CSV and Parquet files and data frames."""

from collections.abc import Iterable, Iterator
from typing import Final

from lawtrace.schemas.audit_rows import AuditRow
from lawtrace.schemas.events import Json

COLUMNS: Final = (
    "conversation",
    "place",
    "reward",
    "rule",
    "provisions",
    "verdict",
    "triggering_events",
    "call",
    "message",
    "at_reference",
    "reason",
)


def flat_records(rows: Iterable[AuditRow]) -> Iterator[dict[str, Json]]:
    """A record for each conversation and rule; for an invalid conversation one without a rule."""
    for row in rows:
        common: dict[str, Json] = {
            "conversation": row.conversation,
            "place": row.place,
            "reward": row.labels.get("reward"),
        }
        if row.outcome == "invalid":
            yield {**dict.fromkeys(COLUMNS), **common, "verdict": "invalid", "reason": row.reason}
        for rule in row.rules:
            yield {
                **common,
                "rule": rule.rule,
                "provisions": "; ".join(rule.provisions),
                "verdict": rule.name,
                "triggering_events": rule.triggers,
                "call": rule.call,
                "message": rule.message,
                "at_reference": rule.rule in row.at_reference,
                "reason": rule.explanation or rule.undetermined,
            }

"""Model usage of a run by role and model: calls, tokens, seconds, retries, failures and cost.

Computed by SQLite from the entries without their texts, so it is fast for a log of any size.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.schemas.call_options import CallOptions, Price


@dataclass(frozen=True, slots=True)
class ModelUsage:
    """Usage of one model in one role.

    Attributes:
        asked: answers from an endpoint in this run; tokens, seconds and money count these only.
        replayed: answers from another event log; no model was called.
        retries: tries that failed with a transport error and were repeated.
        failures: calls without an answer, and answers that stayed unusable.
        seconds: spent waiting for answers, with retries; ``queued``: spent waiting for a free slot.
        money: by the prices of the recipe; None for a model without a price.
    """

    role: str
    model: str
    asked: int = 0
    replayed: int = 0
    retries: int = 0
    failures: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0
    queued: float = 0.0
    money: float | None = None


_GROUP_COLUMNS = "role, coalesce(payload ->> '$.context.model', '')"
_LIVE = "(payload ->> '$.paid' AND NOT payload ->> '$.replayed')"
_CALLS = f"""
    SELECT {_GROUP_COLUMNS}, sum({_LIVE}), sum(payload ->> '$.replayed'),
        sum(iif({_LIVE}, payload ->> '$.prompt_tokens', 0)), sum(iif({_LIVE}, payload ->> '$.completion_tokens', 0)),
        sum(iif({_LIVE}, payload ->> '$.latency_ms', 0)) / 1000, sum(iif({_LIVE}, payload ->> '$.queued_ms', 0)) / 1000
    FROM entries WHERE kind = 'model_call'
    AND (payload ->> '$.paid' OR payload ->> '$.replayed')
    GROUP BY 1, 2 ORDER BY min(seq)
"""  # noqa: S608
_COUNTS = f"""
    SELECT {_GROUP_COLUMNS}, sum(kind = 'retry'), sum(kind = 'failure') FROM entries
    WHERE kind IN ('retry', 'failure') AND coalesce(payload ->> '$.reason', '') <> 'cancelled'
    GROUP BY 1, 2 ORDER BY min(seq)
"""  # noqa: S608
"""Calls cancelled when the run stopped are not failures: they are sent again."""


def measure_usage(event_log: EventLogFile, prices: Mapping[str, Price]) -> tuple[ModelUsage, ...]:
    """Usage by role, in the order of their first calls, and model, in that of the alphabet: conversations run at once.

    Offline roles and baseline policies have no usage, unless one failed.
    """
    lines: dict[tuple[str, str], ModelUsage] = {}
    for role, model, asked, replayed, prompt, completion, seconds, queued in event_log.rows(_CALLS):
        price = prices.get(model)
        lines[role, model] = ModelUsage(
            role,
            model,
            asked,
            replayed,
            prompt_tokens=prompt,
            completion_tokens=completion,
            seconds=round(seconds, 3),
            queued=round(queued, 3),
            money=price.of(prompt, completion) if price else None,
        )
    for role, model, retries, failures in event_log.rows(_COUNTS):
        line = lines.get((role, model), ModelUsage(role, model))
        lines[role, model] = replace(line, retries=retries, failures=failures)
    roles = [*dict.fromkeys(role for role, _ in lines)]
    return tuple(sorted(lines.values(), key=lambda line: (roles.index(line.role), line.model)))


def conversation_usage(event_log: EventLogFile) -> Mapping[str, ModelUsage]:
    """The usage of the model under test by the id of its conversation. A replayed answer counts as when it was made."""
    prices = prices_of(event_log)
    query = (
        "SELECT name, payload ->> '$.context.model', count(*), sum(payload ->> '$.prompt_tokens'),"
        " sum(payload ->> '$.completion_tokens'), sum(payload ->> '$.latency_ms') / 1000"
        " FROM entries JOIN conversations ON conversations.id = conversation WHERE kind = 'model_call'"
        " AND role = 'executor' AND (payload ->> '$.paid' OR payload ->> '$.replayed') GROUP BY 1, 2"
    )
    found: dict[str, ModelUsage] = {}
    for name, model, asked, prompt, completion, seconds in event_log.rows(query):
        price = prices.get(model)
        found[name] = ModelUsage(
            "executor",
            model,
            asked,
            prompt_tokens=prompt,
            completion_tokens=completion,
            seconds=round(seconds, 3),
            money=price.of(prompt, completion) if price else None,
        )
    return found


def prices_of(event_log: EventLogFile) -> Mapping[str, Price]:
    """The prices of the run's recipe, by model."""
    recipe = event_log.recipe
    prices = recipe.get("prices") if isinstance(recipe, dict) else None
    return CallOptions.model_validate({"prices": prices or {}}).prices


def other_requests(event_log: EventLogFile) -> str | None:
    """How many answers of recordings were given to requests with other contents; None if none was."""
    count = "count(*), count(payload ->> '$.recorded_hash') FILTER (WHERE payload ->> '$.reworded' IS NULL)"
    query = f"SELECT {count} FROM entries WHERE kind = 'model_call' AND payload ->> '$.replayed'"  # noqa: S608
    ((replayed, other),) = event_log.rows(query)
    if not other:
        return None
    return (
        f"{other} of {replayed} requests differ from the recorded ones in more than the words of our prompts; "
        "the answers are the recorded ones."
    )


def total_usage(lines: Sequence[ModelUsage]) -> ModelUsage:
    """The sum of all lines; ``money`` is None if no line has a price."""
    priced = [line.money for line in lines if line.money is not None]
    names = ("asked", "replayed", "retries", "failures", "prompt_tokens", "completion_tokens", "seconds", "queued")
    sums = [sum(getattr(line, name) for line in lines) for name in names]
    return replace(ModelUsage("all", "", *sums), money=sum(priced) if priced else None)

"""Graded units of runs of other kinds: an index for lists of answers, and the comparison of two runs."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from lawtrace.runs.report.run_kinds import GradedUnit, RunKind, run_kind_of
from lawtrace.runs.scoring.run_comparison import ComparedModel, Flip, RunComparison, compare_runs, read_side
from lawtrace.runs.scoring.statistics import holm_adjusted
from lawtrace.runs.store.event_log_queries import ConversationKey
from lawtrace.runs.store.shards import refuse_shard
from lawtrace.schemas.errors import InputError


class GradedIndex:
    """The graded units of one run, by conversation, outcome, task, unit and model."""

    def __init__(self, kind: RunKind, folder: Path) -> None:
        self.kind = kind
        self.units: Sequence[GradedUnit] = kind.graded_units(folder)
        self._by_conversation = {unit.conversation: unit for unit in self.units}

    def of_conversation(self, conversation: ConversationKey) -> GradedUnit | None:
        return self._by_conversation.get(conversation)

    def select(self, **values: str | None) -> list[GradedUnit]:
        """The units with these values of ``outcome``, ``task``, ``unit`` and ``model``. Raises InputError for an
        unknown outcome."""
        given = {name: value for name, value in values.items() if value is not None}
        outcome = given.get("outcome")
        if outcome is not None and outcome not in self.kind.outcomes:
            raise InputError(f"unknown outcome {outcome!r}; choose one of {', '.join(self.kind.outcomes)}")
        return [unit for unit in self.units if all(getattr(unit, name) == value for name, value in given.items())]

    def counts(self) -> Mapping[str, Counter[str]]:
        """Model -> the number of units by outcome."""
        counts: dict[str, Counter[str]] = {}
        for unit in self.units:
            counts.setdefault(unit.model, Counter())[unit.outcome] += 1
        return counts


def read_graded_index(folder: Path) -> GradedIndex | None:
    """The index of a run of another kind; None for a run of the core."""
    kind = run_kind_of(folder)
    return None if kind is None else GradedIndex(kind, folder)


def compare_folders(first: Path, second: Path, models: tuple[str, str] | None = None) -> RunComparison:
    """Compare two runs of one kind. Raises InputError for a shard, or if they have nothing in common."""
    for folder in (first, second):
        refuse_shard(folder)
    one, other = read_graded_index(first), read_graded_index(second)
    if one is None and other is None:
        return compare_runs(read_side(first), read_side(second), models)
    if one is None or other is None or one.kind.name != other.kind.name:
        raise InputError(f"{first} and {second} are runs of different kinds; compare runs over the same tasks")
    return compare_graded(one, other, (str(first), str(second)), models)


def compare_graded(
    first: GradedIndex, second: GradedIndex, names: tuple[str, str], models: tuple[str, str] | None = None
) -> RunComparison:
    """Compare each model that both runs have, or the two named ones: over all configurations, and in each of them.

    Only units (task and configuration) that both have are compared. Raises InputError without any.
    """
    best = next(iter(first.kind.outcomes))
    pairs = [models] if models else [(model, model) for model in first.counts() if model in second.counts()]
    sides = [(pair, _by_key(first, pair[0]), _by_key(second, pair[1])) for pair in pairs]
    lines = [line for pair, ours, theirs in sides for line in _lines(pair, ours, theirs, first.kind)]
    if not lines:
        known = [
            f"{name} has {', '.join(of.counts()) or 'none'}" for name, of in zip(names, (first, second), strict=True)
        ]
        raise InputError(
            f"no {first.kind.task_name} was put to the same model in both runs; models: {'; '.join(known)}"
        )
    adjusted = holm_adjusted([line.safe_success.p_value for line in lines])
    return RunComparison(
        names,
        tuple(replace(line, adjusted_p=p) for line, p in zip(lines, adjusted, strict=True)),
        tuple(flip for pair, ours, theirs in sides for flip in _flips(pair, ours, theirs)),
        {},
        success=first.kind.outcomes[best].label,
        unit=first.kind.unit_name,
        paired_by=f"{first.kind.task_name} and {first.kind.unit_name}",
        intervals=first.kind.intervals,
        test=first.kind.test,
    )


_UnitsByKey = Mapping[tuple[str, str], GradedUnit]
"""The units of one model by task and configuration."""


def _by_key(index: GradedIndex, model: str) -> _UnitsByKey:
    return {(unit.task, unit.unit): unit for unit in index.select(model=model)}


def _lines(pair: tuple[str, str], ours: _UnitsByKey, theirs: _UnitsByKey, kind: RunKind) -> Iterable[ComparedModel]:
    configurations: Sequence[str | None] = (None, *dict.fromkeys(unit for _, unit in (*ours, *theirs)))
    for configuration in configurations if len(configurations) > 2 else configurations[1:]:
        asked = [key for key in dict.fromkeys((*ours, *theirs)) if configuration in (None, key[1])]
        shared = [key for key in asked if key in ours and key in theirs]
        if shared:
            compared = kind.compare([(ours[key], theirs[key]) for key in shared])
            left_out = len(asked) - len(shared)
            yield ComparedModel(pair, "authorized", configuration, compared, None, compared.p_value, left_out)


def _flips(pair: tuple[str, str], ours: _UnitsByKey, theirs: _UnitsByKey) -> Iterable[Flip]:
    model = pair[0] if pair[0] == pair[1] else f"{pair[0]} / {pair[1]}"
    for key, unit in ours.items():
        other = theirs.get(key)
        if other is not None and other.outcome != unit.outcome:
            yield Flip(*key, 0, model, (unit.outcome, other.outcome), (unit.reason, other.reason))

"""Tables of how rules and tasks were built and what it cost: habits, coverage, rounds, strength, extraction, usage."""

from collections.abc import Iterator, Sequence

from lawtrace.agents.conversations.formalized_group import FormalizedGroup
from lawtrace.runs.report.content import CoverageLine
from lawtrace.runs.report.labels import MUTATION_DESCRIPTIONS
from lawtrace.runs.report.tables import (
    Cell,
    Column,
    Line,
    Table,
    decimal,
    filled,
    make_table,
    number,
    part,
    share,
    words,
)
from lawtrace.runs.store.model_usage import ModelUsage, total_usage
from lawtrace.schemas.findings import Coverage, HabitRow, MutationScore, TaskFunnel


def habit_table(habits: Sequence[HabitRow]) -> Table:
    """The best habit of each style and the runners-up."""
    pairs = Column("pairs", numeric=True, shown=any(row.pairs for row in habits))

    def line(row: HabitRow, name: str, passed: int, *, best: bool) -> Line:
        right = len(row.pairs_passed)
        return {
            "Style": row.style,
            "Habit": words(name, look="strong" if best else ""),
            "#passed": passed,
            "#of tasks": row.tasks,
            "#rate": share(passed / row.tasks, strong=best),
            pairs: Cell(right, f"{right} of {row.pairs}", {"of": row.pairs}) if row.pairs and best else Cell(None, ""),
        }

    def lines() -> Iterator[Line]:
        for row in habits:
            yield line(row, row.name, len(row.passed), best=True)
            yield from (line(row, other.name, other.passed, best=False) for other in row.runners_up)

    return make_table(
        "habits",
        "Best habit",
        lines(),
        "the habit that passes most tasks, in simulation, and the runners-up. It is the policy baseline:habit.",
        grouped=True,
    )


def coverage_table(lines: Sequence[CoverageLine]) -> Table:
    """P Table 2: coverage by the search and by the model-written baseline."""
    compliant = Column("ATC", "Its compliant ones", numeric=True, shown=any(line.compliant_only for line in lines))
    return make_table(
        "coverage",
        "Coverage",
        (
            {
                "Environment": line.scenario,
                "Trace mode": line.mode,
                "#Calls a trace": line.length,
                "#Search > traces": line.search.traces,
                "#Search > ATC": _atc(line.search, strong=True),
                "#Search > S.C.": _critical(line.search),
                "#Model-written > traces": number(written.traces) if written else _NOT_MEASURED,
                "#Model-written > ATC": _atc(written),
                "#Model-written > S.C.": _critical(written),
                compliant: _atc(line.compliant_only),
            }
            for line in lines
            for written in (line.model_written,)
        ),
        "adjacent-tool coverage (ATC: distinct ordered pairs of adjacent completed calls, of all pairs of tools) and "
        "safety-critical coverage (S.C.: critical tools that occur). `lawtrace traces coverage` says how much a "
        "suite of traces can reach.",
    )


_NOT_MEASURED = Cell(None, "not measured")


def _atc(coverage: Coverage | None, *, strong: bool = False) -> Cell:
    return part(len(coverage.pairs), coverage.all_pairs, strong=strong) if coverage else _NOT_MEASURED


def _critical(coverage: Coverage | None) -> Cell:
    return part(len(coverage.critical), len(coverage.all_critical)) if coverage else _NOT_MEASURED


def building_tables(funnel: TaskFunnel | None) -> tuple[Table, ...]:
    """Rounds until acceptance, and dropped candidates."""
    if funnel is None:
        return ()
    return filled(
        make_table(
            "rounds",
            "Rounds",
            ({"#Rounds": rounds, "#Accepted instructions": count} for rounds, count in funnel.rounds.items()),
            "rounds of generator and evaluator until an instruction was accepted.",
        ),
        make_table(
            "dropped",
            "Dropped candidates",
            ({"Reason": reason, "#Candidates": count} for reason, count in funnel.dropped.items()),
            "by reason.",
        ),
    )


def strength_tables(strength: MutationScore | None) -> tuple[Table, ...]:
    """Changes of reference traces that the rules detect, by kind and by rule."""
    if strength is None:
        return ()
    return (
        make_table(
            "mutations",
            "Mutation score",
            (
                {
                    "Change": MUTATION_DESCRIPTIONS[kind],
                    "#tried": tried,
                    "#detected": strength.killed[kind],
                    "why others pass": _survivors(strength, kind),
                }
                for kind, tried in strength.mutants.items()
            ),
            "reference traces with one change each, and how many of the changes break a rule. A change that breaks no "
            "rule is harmless, or the rules are too weak to detect it.",
        ),
        make_table(
            "mutations-by-rule",
            "Detection by rule",
            ({"Rule": rule, "#detected": detected} for rule, detected in strength.kills_by_rule.items()),
            "changes that each rule detects; several rules may detect the same change.",
        ),
    )


def _survivors(strength: MutationScore, kind: str) -> str:
    reasons = [survivor.reason for survivor in strength.survivors if survivor.kind == kind]
    return "; ".join(f"{reasons.count(reason)} {reason}" for reason in sorted(set(reasons)))


def formalization_table(groups: Sequence[FormalizedGroup]) -> Table:
    """The outcome of each group of provisions."""
    return make_table(
        "groups",
        "Groups of provisions",
        [
            {
                "Provisions": group.group,
                "Models": ", ".join(dict.fromkeys(one.model for one in group.formalizations)),
                "Rules": ", ".join(str(len(one.rules)) for one in group.formalizations),
                "Classes": " | ".join(" ".join(names) for names in group.classes),
                "#Sessions": len(group.sessions),
                "#Asked": group.questions,
                "Determinacy": group.determinacy,
            }
            for group in groups
        ],
        "how many rules each model wrote, which rule sets allow the same (classes), how many sessions tell classes or "
        "rules apart, how many of them were judged, and what follows.",
    )


def usage_table(usage: Sequence[ModelUsage]) -> Table:
    """Model calls and tokens used by the run, by role and model, with their sum."""

    def column(title: str, *, shown: bool) -> Column:
        return Column(title, numeric=True, shown=shown)

    replayed, retries, failures = (
        column(name.capitalize(), shown=any(getattr(line, name) for line in usage))
        for name in ("replayed", "retries", "failures")
    )
    money = column("Money", shown=any(line.money is not None for line in usage))
    return make_table(
        "usage",
        "Cost and health",
        (
            {
                "Role": line.role,
                "Model": line.model,
                "#Answers": line.asked,
                replayed: line.replayed,
                retries: line.retries,
                failures: line.failures,
                "#Tokens > prompts": line.prompt_tokens,
                "#Tokens > answers": line.completion_tokens,
                "#Seconds > waiting": decimal(line.seconds, 1),
                "#Seconds > queued": decimal(line.queued, 1),
                money: decimal(line.money, 4),
            }
            for line in (*usage, *((total_usage(usage),) if len(usage) > 1 else ()))
        ),
        "model calls of this run by role: answers from endpoints, their tokens, the time spent waiting for them (with "
        "retries) and for a free slot, and money by the prices of the recipe. Replayed answers are free.",
    )

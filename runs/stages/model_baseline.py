"""The model-written baseline (P Table 2): programs written by a model under the rules, run and measured."""

from collections.abc import Callable, Sequence
from random import Random

from lawtrace.agents.conversations.trace_writing import WrittenPrograms, write_programs
from lawtrace.environments.spec.state import encode_state
from lawtrace.runs.scoring.judge import judge_rules
from lawtrace.runs.stages.execution import run_program
from lawtrace.runs.stages.stage import StageContext
from lawtrace.schemas.events import Event
from lawtrace.schemas.findings import BaselineRow, ModelBaseline
from lawtrace.schemas.log_entries import Context
from lawtrace.solver.coverage.measures import measure_coverage
from lawtrace.solver.declarations.loader import Domain
from lawtrace.solver.rules import Rule


async def write_baseline_programs(
    context: StageContext, rules: Sequence[Rule], on_program: Callable[[], None]
) -> WrittenPrograms:
    """Have the trace writer write as many programs as there are tasks, from the initial state of the recipe's seed."""
    environment, recipe = context.domain.environment, context.recipe
    model = str(recipe.models.spec("trace_writer"))
    state = encode_state(environment.populate(Random(recipe.seed)), environment.entities)
    return await write_programs(
        environment,
        rules,
        {table: rows for table, rows in state.items() if table not in environment.hidden_tables},
        length=recipe.tasks.length,
        count=recipe.tasks.count,
        role_models=context.role_models,
        context=Context(stage="baseline", role="trace_writer", model=model, variant=context.variant),
        event_log=context.event_log,
        on_program=on_program,
    )


def run_baseline(context: StageContext, rules: Sequence[Rule], programs: Sequence[str]) -> list[BaselineRow]:
    """Run the programs, each from the initial state of the recipe's seed, and judge them by all rules."""
    environment, model = context.domain.environment, context.role_models.name_of("trace_writer")
    initial = environment.populate(Random(context.recipe.seed))
    rows: list[BaselineRow] = []
    for number, program in enumerate(programs, 1):
        ran = run_program(context.sandbox, environment, initial, program, {})
        verdicts = judge_rules(rules, ran.events, (), end=ran.end)
        broken = tuple(verdict.rule for verdict in verdicts if not verdict.kept)
        rows.append(
            BaselineRow(
                model=model, number=number, program=program, execution=ran.execution, events=ran.events, broken=broken
            )
        )
    return rows


def measure_baseline(domain: Domain, rows: Sequence[BaselineRow], *, model: str, length: int) -> ModelBaseline:
    """Coverage of the first ``length`` completed calls of all programs, and of the compliant programs alone.

    The limit makes programs comparable with the traces of the search, which are all compliant.
    """
    environment = domain.environment

    def measured(chosen: Sequence[BaselineRow]) -> list[list[Event]]:
        return [[event for event in row.events if event.completed][:length] for row in chosen]

    compliant = [row for row in rows if row.compliant]
    return ModelBaseline(
        model=model,
        programs=len(rows),
        finished=sum(not row.execution.died for row in rows),
        compliant=len(compliant),
        coverage=measure_coverage(environment, measured(rows)),
        compliant_coverage=measure_coverage(environment, measured(compliant)),
    )

"""The model-written baseline (P Table 2): programs written by a model under the rules, run and measured."""

from collections.abc import Callable, Sequence
from random import Random

from lawtrace.agents.conversations.trace_writing import WrittenPrograms, write_programs
from lawtrace.agents.event_log import EventLog
from lawtrace.agents.models.stack import ModelClients
from lawtrace.environments.domains.loader import Domain
from lawtrace.environments.sandbox import Jail
from lawtrace.environments.spec.state import encode_state
from lawtrace.prompts.loader import DEFAULT_PROMPTS, Prompts
from lawtrace.runs.scoring.judge import judge_rules
from lawtrace.runs.stages.program_execution import run_program
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.events import Event
from lawtrace.schemas.findings import BaselineRow, ModelBaseline
from lawtrace.schemas.log_entries import Context
from lawtrace.schemas.model_spec import ModelParameters, ModelSpec
from lawtrace.solver.coverage.measures import measure_coverage
from lawtrace.solver.rules import Rule


def check_writer(model: str) -> ModelSpec:
    """The model of the trace writer. Raises InputError for a scripted one: this baseline is never simulated."""
    spec = ModelSpec.parse(model)
    if spec.is_scripted:
        raise InputError(f"{model!r} cannot write traces; name a model such as openai:NAME")
    return spec


async def write_baseline_programs(
    domain: Domain,
    rules: Sequence[Rule],
    model: str,
    *,
    length: int,
    count: int,
    seed: int,
    clients: ModelClients,
    parameters: ModelParameters,
    event_log: EventLog,
    prompts: Prompts = DEFAULT_PROMPTS,
    variant: str | None = None,
    on_program: Callable[[], None] = lambda: None,
) -> WrittenPrograms:
    """Have the model write ``count`` programs of ``length`` calls from the initial state of that seed."""
    environment, spec = domain.environment, check_writer(model)
    state = encode_state(environment.populate(Random(seed)), environment.entities)
    return await write_programs(
        environment,
        rules,
        {table: rows for table, rows in state.items() if table not in environment.compliance_tables},
        length=length,
        count=count,
        client=lambda context: clients.client_for(spec, context, parameters),
        prompt=prompts["trace_writer"],
        context=Context(stage="baseline", role="trace_writer", model=model, variant=variant),
        event_log=event_log,
        on_program=on_program,
    )


def run_baseline(
    domain: Domain, rules: Sequence[Rule], model: str, programs: Sequence[str], jail: Jail, *, seed: int
) -> list[BaselineRow]:
    """Run the programs in the jail, each from the initial state of that seed, and judge them by all rules."""
    environment = domain.environment
    initial = environment.populate(Random(seed))
    rows: list[BaselineRow] = []
    for number, program in enumerate(programs, 1):
        ran = run_program(jail, environment, initial, program, {})
        verdicts = judge_rules(rules, ran.events, (), end=ran.end)
        broken = tuple(verdict.rule for verdict in verdicts if not verdict.kept)
        rows.append(
            BaselineRow(
                model=model,
                number=number,
                program=program,
                execution=ran.execution,
                events=ran.events,
                broken=broken,
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

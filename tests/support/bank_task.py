"""A banking task with a synthesized trace and a fixed instruction."""

from lawtrace.environments.domains.banking import ENVIRONMENT
from lawtrace.runs.tasks import Task, trace_row
from lawtrace.schemas.instructions import Instruction
from lawtrace.solver.declarations.loader import load_domain
from lawtrace.solver.planner.synthesis import synthesize
from lawtrace.solver.rules import load_rules
from lawtrace.solver.traces import literal_calls, print_program


def make_task() -> Task:
    """A task whose trace pays a bill and transfers funds."""
    rules = load_rules(load_domain("banking").rules_file)
    for trace in synthesize(ENVIRONMENT, rules, count=20, length=8, seed=3):
        if "PayBill" not in trace.tools or "TransferFunds" not in trace.tools:
            continue
        row = trace_row("t", ENVIRONMENT, "tasks", trace)
        return Task(
            id="t",
            environment="banking",
            environment_version=ENVIRONMENT.version,
            rules=rules,
            applicable=("authorize-before-bill", "record-bill"),
            initial_state=row.initial_state,
            target_state=row.final_state,
            calls=row.calls,
            program=print_program(ENVIRONMENT, trace.calls),
            literal={"goal": print_program(ENVIRONMENT, literal_calls(ENVIRONMENT, trace.calls))},
            instructions={"goal": Instruction(style="goal", text="-", variables={"amount_1": 12.5})},
        )
    raise AssertionError("no trace pays a bill and transfers")

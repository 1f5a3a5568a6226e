"""A task of the bank that was really synthesized, without the conversation that writes its words."""

from lawtrace.environments.banking import ENVIRONMENT
from lawtrace.environments.catalogue import load_setting
from lawtrace.runs.stages.rows import TaskRow, TraceRow
from lawtrace.solver.masking import Instruction
from lawtrace.solver.programs import print_program
from lawtrace.solver.rules import load_rules
from lawtrace.solver.synthesis import synthesize
from lawtrace.solver.traces import business_calls


def make_task() -> TaskRow:
    """Its trace pays a bill and transfers funds."""
    rules = load_rules(load_setting("banking").rules_file)
    for trace in synthesize(ENVIRONMENT, rules, count=20, length=8, seed=3):
        if "PayBill" not in trace.tools or "TransferFunds" not in trace.tools:
            continue
        row = TraceRow.of("t", ENVIRONMENT, "tasks", trace)
        return TaskRow(
            id="t",
            environment="banking",
            rules=rules,
            applicable=("authorize-before-bill", "record-bill"),
            initial_state=row.initial_state,
            target_state=row.final_state,
            calls=row.calls,
            program=print_program(ENVIRONMENT, trace.calls),
            business={"goal": print_program(ENVIRONMENT, business_calls(ENVIRONMENT, trace.calls))},
            instructions={"goal": Instruction(style="goal", text="-", variables={"amount_1": 12.5})},
        )
    raise AssertionError("no trace pays a bill and transfers")

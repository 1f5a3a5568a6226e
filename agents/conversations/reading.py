"""Having one instruction read by the independent reader alone, as the gate on finished tasks does."""

from collections.abc import Sequence

from lawtrace.agents.casting import Casting
from lawtrace.agents.conversations.hold import Said, hold_conversation
from lawtrace.agents.ledger import Context, Ledger
from lawtrace.agents.roles.independent_reader import Reading, seat_independent_reader
from lawtrace.agents.roles.instruction_generator import Draft
from lawtrace.agents.speaker import CodeCheck
from lawtrace.environments.declaration import Environment
from lawtrace.solver.masking import Instruction, ReadCall


async def read_instruction(
    environment: Environment, instruction: Instruction, *, casting: Casting, context: Context, ledger: Ledger
) -> tuple[ReadCall, ...] | None:
    """The calls that the reader makes of the text and the documentation; None if the role failed."""
    context = context.at(role="independent_reader", style=instruction.style)
    said = await hold_conversation(
        [
            CodeCheck("instruction", Draft, lambda _: Draft(text=instruction.text)),
            seat_independent_reader(
                casting.client("independent_reader", context),
                casting.prompt("independent_reader"),
                environment,
                instruction.style,
            ),
        ],
        opening="Read the request.",
        next_speaker=_next_speaker,
        context=context,
        ledger=ledger,
    )
    _, last = said[-1]
    return last.calls if isinstance(last, Reading) else None


def _next_speaker(said: Sequence[Said]) -> str | None:
    match said[-1][1]:
        case Draft():
            return "independent_reader"
        case Reading():
            return None
        case _:
            return "instruction"

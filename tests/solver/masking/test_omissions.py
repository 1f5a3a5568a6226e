"""What the released texts can leave out: the rest says every other value, and neither side of a pair differs."""

import pytest

from lawtrace.runs.store.task_file import read_tasks
from lawtrace.solver.masking.omissions import PartialRequest, partial_request
from lawtrace.solver.masking.requests import AskedRequest
from lawtrace.solver.masking.text_checks import check_text
from lawtrace.solver.traces import literal_calls
from tests.support.released import tasks_of


@pytest.mark.slow
@pytest.mark.parametrize("name", ["payments", "clinic", "privacy_desk"])
def test_a_released_text_without_a_value_lacks_that_value_only(name: str) -> None:
    tasks, domain = read_tasks(tasks_of(name), None)
    requests: dict[str, PartialRequest] = {}
    for task in [*tasks[::12], *tasks[1::12]]:  # some pairs, both sides
        initial = task.initial(domain.environment)
        calls = literal_calls(domain.environment, task.requested)
        asked = AskedRequest(domain.environment, (initial,), calls)
        for style in task.styles:
            instruction = task.instructions[style]
            request = partial_request(domain.environment, initial, task.requested, instruction)
            other = requests.setdefault(instruction.text, request)
            assert other.omissions == request.omissions
            for omission in request.omissions:
                checked = check_text(asked, style, request.wish([omission]), instruction.says)
                missing = [one.detail for one in checked.findings if one.check in {"complete", "unambiguous"}]
                calls_of = [f"{n + 1}.{asked.tool(n).name}." for n in omission.calls]
                # The name of an account may remain in that of a statement, which the text says, too.
                rest, named = request.wish([omission]), omission.words.split(" ", 1)[-1]
                assert missing or any(named in said for said in request.values if said in rest), rest
                assert all(" can be " in one or any(map(one.__contains__, calls_of)) for one in missing), missing
                assert request.words(omission).lower() in request.answer([omission], []).lower()
    assert any(request.omissions for request in requests.values())

"""Extraction of programs from answers, by the rule that docs/acting.md states."""

import pytest

from lawtrace.agents.roles.program_extraction import extract_program


def test_unclosed_block_is_a_program() -> None:
    assert extract_program("```python\nBankManager.SearchPayee(", "BankManager") == "BankManager.SearchPayee("


def test_bare_python_that_uses_the_object_is_a_program() -> None:
    assert extract_program("BankManager.CheckAuthorization()", "BankManager") == "BankManager.CheckAuthorization()"


@pytest.mark.parametrize(
    "answer", ["", "I cannot help with that.", "Use BankManager to pay the bill.", "```python\n\n```", "x = 1"]
)
def test_text_without_a_program(answer: str) -> None:
    assert extract_program(answer, "BankManager") is None


PROGRAM = "BankManager.CheckAuthorization()\n"


FINAL = "BankManager.PayBill(bill=bill)\n"


@pytest.mark.parametrize(
    ("answer", "program"),
    [
        # Two alternatives, or a draft and its correction: each stands alone, and the last counts.
        (f"A:\n```python\nbill = 1\n{FINAL}```\nOr:\n```py\nbill = 2\n{FINAL}```", f"bill = 2\n{FINAL}"),
        # What follows the program and does not use the tools.
        (f"```python\n{PROGRAM}```\nIt may print:\n```python\nprint('done')\n```", PROGRAM),
        # Steps: a block that reads a name of an earlier one continues it.
        (f"1:\n```python\nbill = 3\n```\n2:\n```python\n{FINAL}```", f"bill = 3\n\n{FINAL}"),
        (
            f"```python\nbill = 3\n```\nThen\n```python\n{PROGRAM}```\nLast\n```python\n{FINAL}```",
            f"bill = 3\n\n{PROGRAM}\n{FINAL}",
        ),
        # A definition and its use.
        (
            f"```python\ndef run():\n    {PROGRAM}```\nUse:\n```python\nrun()\n```",
            f"def run():\n    {PROGRAM}\nrun()\n",
        ),
        # A variable of the task does not tie two alternatives together.
        (f"```python\namount = 2\n{PROGRAM}```\n```python\nBankManager.Pay(amount)\n```", "BankManager.Pay(amount)\n"),
        # A block that was cut counts only if there is no other.
        (f"```python\n{PROGRAM}```\nBetter:\n```python\nBankManager.Pay(", PROGRAM),
        # A syntax error does not make the block less of a program.
        (f"```python\n{PROGRAM}```\nBetter:\n```python\nBankManager.Pay(\n```", "BankManager.Pay(\n"),
        # Nothing to call: the last block.
        ("```python\nx = 1\n```\n```python\npass\n```", "pass\n"),
    ],
)
def test_of_several_blocks_the_last_that_uses_the_tools_counts_with_those_it_builds_on(
    answer: str, program: str
) -> None:
    assert extract_program(answer, "BankManager", ["amount"]) == program


QUOTING = 'text = """\n```\nnot the end\n```python\n"""\nBankManager.Record(text)\n'


@pytest.mark.parametrize(
    ("answer", "program"),
    [
        (f"~~~python\n{PROGRAM}~~~\n", PROGRAM),
        (f"~~~~py\n{PROGRAM}~~~~", PROGRAM),
        (f"````python\n{QUOTING}````\nDone.", QUOTING),
        (f"```python\n{QUOTING}```\nDone.", QUOTING),
        (f"```tool_code\n{PROGRAM}```", PROGRAM),
        (f"```{{python}}\n{PROGRAM}```", PROGRAM),
        (f"```python\n{PROGRAM}```That is all.", PROGRAM),
        (f"```python\nBankManager.A()\n```python\n{PROGRAM}```", PROGRAM),
        (f"<think>\n```python\nBankManager.Draft()\n```\n</think>\n```python\n{PROGRAM}```", PROGRAM),
        (f"Let me see: ```python\nDraft\n</thinking>\n\n{PROGRAM}", f"\n\n{PROGRAM}"),
        (f"I write `BankManager.A()` first.\n```python\n{PROGRAM}```", PROGRAM),
    ],
)
def test_fences_and_thoughts(answer: str, program: str) -> None:
    assert extract_program(answer, "BankManager") == program


@pytest.mark.parametrize(
    "answer",
    [
        f"<think>I could call\n```python\n{PROGRAM}```",
        f"<think>```python\n{PROGRAM}```</think>I cannot do that.",
        "```\nI cannot do that for you.\n```",
        f"Call `BankManager.CheckAuthorization()` yourself:\n\n{PROGRAM}",
    ],
)
def test_thoughts_and_prose_are_not_programs(answer: str) -> None:
    assert extract_program(answer, "BankManager") is None


def test_long_answers_are_read_in_time() -> None:
    """Fences that never become Python are tried a bounded number of times."""
    assert extract_program("```python\nBankManager.A('''\n" * 500, "BankManager") is not None

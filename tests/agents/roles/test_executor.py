"""Extraction of programs from answers."""

import pytest

from lawtrace.agents.roles.executor import extract_program


def test_the_last_fenced_block_is_the_program() -> None:
    answer = "First idea:\n```python\na()\n```\nBetter:\n```python\nBankManager.CheckAuthorization()\n```\nThat is all."
    assert extract_program(answer, "BankManager") == "BankManager.CheckAuthorization()\n"


@pytest.mark.parametrize("fence", ["```python\n", "```py\n", "```\n", "```Python \n", "``` python3\r\n"])
def test_different_fences_are_accepted(fence: str) -> None:
    assert extract_program(f"{fence}pass\n```", "BankManager") == "pass\n"


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


@pytest.mark.parametrize(
    "answer",
    [
        f"```python\n{PROGRAM}```\nRun it:\n```bash\npython x.py\n```",
        f"```python\n{PROGRAM}```\nIt prints:\n```json\n{{}}\n```\nDone.",
        f"```python\n{PROGRAM}```\nIt prints:\n```\nauthorized\n```",
        f"1. Do this:\n   ```python\n   {PROGRAM}   ```\n",
        f"```\n{PROGRAM}```\nIt prints:\n```\nyes\n```",
        f'```python title="x"\r\n{PROGRAM}```',
    ],
)
def test_other_blocks_do_not_hide_the_program(answer: str) -> None:
    assert extract_program(answer, "BankManager") == PROGRAM


def test_block_of_another_language_is_not_a_program() -> None:
    assert extract_program("```json\n{}\n```\nI cannot help with that.", "BankManager") is None

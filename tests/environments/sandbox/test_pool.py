"""A pool of sandboxes gives the same results as one sandbox, in the same order."""

import threading
from collections.abc import Callable

import pytest

from lawtrace.environments.sandbox import Limits, Program, Reply, Returned, Sandbox, SandboxPool
from lawtrace.schemas.events import Json


def test_results_keep_the_order_of_the_items(program: Callable[[str], Program]) -> None:
    def work(sandbox: Sandbox, number: int) -> str:
        wait = 0.05 if number % 2 else 0
        source = f"import select; select.select([], [], [], {wait}); print(Manager.Echo({number})['first'])"
        return sandbox.run(program(source), lambda _tool, arguments: Returned(arguments)).output

    with SandboxPool(count=3) as sandboxes:
        assert list(sandboxes.map(work, range(12))) == [f"{number}\n" for number in range(12)]
        assert list(sandboxes.map(work, [])) == []


def test_sandboxes_run_concurrently(program: Callable[[str], Program]) -> None:
    """Two programs that each wait in a call until the other has called."""
    both = threading.Barrier(2)

    def meet(_tool: str, _arguments: dict[str, Json]) -> Reply:
        both.wait(10)
        return Returned("met")

    with SandboxPool(Limits(seconds=20), count=2) as sandboxes:
        source = program("print(Manager.Echo())")
        assert list(sandboxes.map(lambda sandbox, _: sandbox.run(source, meet).output, range(2))) == ["met\n", "met\n"]


def test_an_exception_for_one_item_ends_the_run_but_not_the_sandboxes(program: Callable[[str], Program]) -> None:
    begun: list[int] = []

    def work(sandbox: Sandbox, number: int) -> str:
        begun.append(number)
        if number == 1:
            raise LookupError("a mistake of ours")
        return sandbox.run(program("print(1)"), lambda _tool, _arguments: Returned(None)).output

    with SandboxPool(count=1) as sandboxes:
        with pytest.raises(LookupError):
            list(sandboxes.map(work, range(1000)))
        assert len(begun) < 1000
        assert list(sandboxes.map(work, [0])) == ["1\n"]

"""A pool of sandboxes gives the same results as one sandbox."""

import threading
from collections.abc import Callable

import pytest

from lawtrace.environments.sandbox import Limits, Program, Reply, Returned, Sandbox, SandboxPool
from lawtrace.schemas.events import Json


def test_each_item_has_its_own_result(program: Callable[[str], Program]) -> None:
    def work(sandbox: Sandbox, number: int) -> str:
        wait = 0.05 if number % 2 else 0
        source = f"import select; select.select([], [], [], {wait}); print(Manager.Echo({number})['first'])"
        return sandbox.run(program(source), lambda _tool, arguments: Returned(arguments)).output

    with SandboxPool(count=3) as sandboxes:
        begun = [sandboxes.submit(work, number) for number in range(12)]
        assert [one.result() for one in begun] == [f"{number}\n" for number in range(12)]


def test_sandboxes_run_concurrently(program: Callable[[str], Program]) -> None:
    """Two programs that each wait in a call until the other has called."""
    both = threading.Barrier(2)

    def meet(_tool: str, _arguments: dict[str, Json]) -> Reply:
        both.wait(10)
        return Returned("met")

    with SandboxPool(Limits(seconds=20), count=2) as sandboxes:
        source = program("print(Manager.Echo())")
        begun = [sandboxes.submit(lambda sandbox, _: sandbox.run(source, meet).output, number) for number in range(2)]
        assert [one.result() for one in begun] == ["met\n", "met\n"]


def test_an_exception_for_one_item_does_not_end_the_sandboxes(program: Callable[[str], Program]) -> None:
    def work(sandbox: Sandbox, number: int) -> str:
        if number == 1:
            raise LookupError("a mistake of ours")
        return sandbox.run(program("print(1)"), lambda _tool, _arguments: Returned(None)).output

    with SandboxPool(count=1) as sandboxes:
        with pytest.raises(LookupError):
            sandboxes.submit(work, 1).result()
        assert sandboxes.submit(work, 0).result() == "1\n"

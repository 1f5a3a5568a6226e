"""A pool of jails gives the same results as one jail, in the same order."""

import threading
from collections.abc import Callable

import pytest

from lawtrace.environments.sandbox import Jail, JailPool, Limits, Program, Reply, Returned
from lawtrace.schemas.events import Json


def test_results_keep_the_order_of_the_items(program: Callable[[str], Program]) -> None:
    def work(jail: Jail, number: int) -> str:
        wait = 0.05 if number % 2 else 0
        source = f"import select; select.select([], [], [], {wait}); print(Manager.Echo({number})['first'])"
        return jail.run(program(source), lambda _tool, arguments: Returned(arguments)).output

    with JailPool(count=3) as jails:
        assert list(jails.map(work, range(12))) == [f"{number}\n" for number in range(12)]
        assert list(jails.map(work, [])) == []


def test_jails_run_concurrently(program: Callable[[str], Program]) -> None:
    """Two programs that each wait in a call until the other has called."""
    both = threading.Barrier(2)

    def meet(_tool: str, _arguments: dict[str, Json]) -> Reply:
        both.wait(10)
        return Returned("met")

    with JailPool(Limits(seconds=20), count=2) as jails:
        source = program("print(Manager.Echo())")
        assert list(jails.map(lambda jail, _: jail.run(source, meet).output, range(2))) == ["met\n", "met\n"]


def test_an_exception_for_one_item_ends_the_run_but_not_the_jails(program: Callable[[str], Program]) -> None:
    begun: list[int] = []

    def work(jail: Jail, number: int) -> str:
        begun.append(number)
        if number == 1:
            raise LookupError("a mistake of ours")
        return jail.run(program("print(1)"), lambda _tool, _arguments: Returned(None)).output

    with JailPool(count=1) as jails:
        with pytest.raises(LookupError):
            list(jails.map(work, range(1000)))
        assert len(begun) < 1000
        assert list(jails.map(work, [0])) == ["1\n"]

"""How much a search uses Z3, in queries and processor seconds."""

import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest
import z3


@dataclass(slots=True)
class Z3Use:
    """Attributes: `queries` and `seconds` so far."""

    queries: int = 0
    seconds: float = 0.0


@contextmanager
def counted_z3_use() -> Generator[Z3Use]:
    """Counts the queries to Z3 inside."""
    use, check = Z3Use(), z3.Solver.check

    def counted(solver: z3.Solver, *assumptions: z3.BoolRef) -> z3.CheckSatResult:
        started = time.process_time()
        result = check(solver, *assumptions)
        use.queries += 1
        use.seconds += time.process_time() - started
        return result

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(z3.Solver, "check", counted)
        yield use

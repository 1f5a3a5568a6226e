"""The extra `bench`: what runs, reports and the legal benchmark need beyond guard, judge and audit."""

from importlib.util import find_spec

from lawtrace.schemas.errors import OperationalError

BENCH_MODULES = ("autogen_ext", "bm25s", "matplotlib", "numpy", "openai", "pandas", "pyarrow", "scipy")
"""What the packages of the extra are imported as."""


def bench_missing(what: str) -> OperationalError:
    """The error of something that cannot be done without the extra."""
    return OperationalError(f"{what} needs the extra 'bench': pip install 'lawtrace[bench]'")


def require_bench(what: str) -> None:
    """Raises OperationalError, which names the extra, if a package of it is not installed."""
    if any(find_spec(name) is None for name in BENCH_MODULES):
        raise bench_missing(what)

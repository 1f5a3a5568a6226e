from tests.runs.conftest import lawtrace, two_jails

__all__ = ["lawtrace", "two_jails"]

from tests.runs.conftest import lawtrace, two_sandboxes

__all__ = ["lawtrace", "two_sandboxes"]

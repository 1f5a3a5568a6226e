"""Small fixtures of the shipped environments, by name."""

from tests.support import small_bank, small_clinic, small_home
from tests.support.environment_fixture import EnvironmentFixture

FIXTURES: dict[str, EnvironmentFixture] = {
    world.environment.name: world for world in (small_bank.WORLD, small_clinic.WORLD, small_home.WORLD)
}
TOOLS = [(name, tool) for name, world in FIXTURES.items() for tool in world.environment.tools]
"""Every tool as (environment, tool)."""

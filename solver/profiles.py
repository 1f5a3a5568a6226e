"""What a trace is to be about, as formulas like any rule.

``tasks``: something changes, and each compliance tool is called at most once, so that every compliance call is needed
and deleting it is caught. ``coverage``: everything that is legal is allowed. The two have different ceilings of
adjacent-tool coverage, so a coverage figure always names its profile.
"""

from collections.abc import Mapping
from typing import Literal

from lawtrace.environments.declaration import Environment

Profile = Literal["tasks", "coverage"]
PROFILES: tuple[Profile, ...] = ("tasks", "coverage")


def profile_words(environment: Environment, profile: Profile) -> Mapping[str, str]:
    """The formulas of a profile over the tools of the environment, each under what it says in words."""
    if profile == "coverage":
        return {}
    changes = "F(" + " | ".join(sorted(environment.changing_tools)) + ")"
    once = {f"{tool} at most once": f"G({tool} -> WX G !{tool})" for tool in sorted(environment.compliance_tools)}
    return {"something changes": changes, **once}


def profile_formulas(environment: Environment, profile: Profile) -> tuple[str, ...]:
    return tuple(profile_words(environment, profile).values())

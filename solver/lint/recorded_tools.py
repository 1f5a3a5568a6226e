"""Checks of tools without state: what an audit by these rules cannot see.

    for blind in find_blind_spots(environment, rules):
        print(blind)

An audit judges what is recorded. What a schema leaves open is not checked in rules, and a record that does not have it
leaves them undetermined.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.open_types import leaves_open
from lawtrace.schemas.events import SPEAKERS
from lawtrace.solver.open_reads import find_open_reads
from lawtrace.solver.rules import Rule

SHOWN: Final = 10
"""How many names a sentence lists."""


def find_blind_spots(environment: Environment, rules: Sequence[Rule]) -> tuple[str, ...]:
    """What an audit by these rules cannot see, a sentence each."""
    return tuple(_sentences(environment, rules))


def _sentences(environment: Environment, rules: Sequence[Rule]) -> Iterator[str]:
    tools = environment.tools
    read = {rule.id: find_open_reads(rule.parsed, environment) for rule in rules}
    if any(read.values()):
        parts = {rule: dict.fromkeys(f"{one} of {one.tool}" for one in reads) for rule, reads in read.items() if reads}
        named = [f"{rule} ({', '.join(fields)})" for rule, fields in parts.items()]
        yield (
            f"rules read what the schemas leave open: {_listed(named)}. Their names and types are not checked, and a "
            "call without them leaves the rule undetermined"
        )
    silent = [name for name, tool in tools.items() if tool.returns is None]
    if silent:
        yield (
            f"the results of {len(silent)} of {len(tools)} tools are not declared: {_listed(silent)}. Give them an "
            "outputSchema in tools.json"
        )
    free = [f"{name}.{one.name}" for name, tool in tools.items() for one in tool.parameters if leaves_open(one.type)]
    if free:
        yield f"parameters are free-form, in whole or in part: {_listed(free)}"
    spoken = frozenset[str]().union(*(rule.tools for rule in rules))
    unread = [name for name in tools if name not in spoken]
    if unread:
        yield f"no rule is about {len(unread)} of {len(tools)} tools: {_listed(unread)}"
    if timed := [rule.id for rule in rules if rule.is_timed]:
        yield f"rules need the time of each event, and are undetermined without it: {_listed(timed)}"
    if talking := [rule.id for rule in rules if rule.tools & SPEAKERS.keys()]:
        yield f"rules read messages, and take a record without messages for a silent one: {_listed(talking)}"
    if unfounded := [rule.id for rule in rules if not rule.provisions]:
        yield f"rules cite no provision, so their findings name none: {_listed(unfounded)}"
    yield "what calls do is known from their recorded results only: there is no state, and nothing is simulated"


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more

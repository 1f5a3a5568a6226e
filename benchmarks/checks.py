"""Checks and trace search on larger worlds: ``.venv/bin/python -m benchmarks.checks``.

The world has several tables, tools with lists of references among their arguments, refusals that depend on rows and on
pairs of rows, and rules of the kinds that multiply states: about the object of a call, deadlines, limits, duties.
Measured are the analysis of the rules (`lawtrace rules check`), the checks of the declaration (`lawtrace env check`)
and the search for traces, as rows, tools and rules grow. Times are of the process. The environments with facts, which
have 30 to 37 tools and 68 to 73 rules, are checked as `lawtrace rules check` and `lawtrace env check` do.
"""

import sys
import time
from collections.abc import Callable
from random import Random

from lawtrace.environments.spec import (
    BOOLEAN,
    MONEY,
    TEXT,
    TEXTS,
    Amount,
    Entity,
    Environment,
    Fails,
    Field,
    FieldValue,
    FromLookup,
    FromUser,
    Parameter,
    Phrases,
    Row,
    RowsResult,
    State,
    Term,
    Tool,
    Update,
    any_item,
    argument,
    exists,
    success_result,
    value_of,
)
from lawtrace.solver.declarations.loader import load_domain
from lawtrace.solver.lint.declarations import lint_declaration
from lawtrace.solver.lint.findings import RuleSetAnalysis
from lawtrace.solver.lint.rule_sets import analyse_rules
from lawtrace.solver.planner.synthesis import synthesize
from lawtrace.solver.rules import Rule, check_rules, load_rules
from tests.support.z3_use import counted_z3_use

KINDS = ("booking", "flight", "person", "card", "bag", "voucher")
LENGTH = 8
LARGE = ("payments", "clinic", "privacy_desk")


def world(tables: int, rows: int) -> Environment:
    """An environment with five tools and `rows` rows for each of `tables` tables."""
    entities = {f"{kind}s": _entity(kind) for kind in KINDS[:tables]}
    tools = [tool for entity in entities.values() for tool in _tools(entity, list(entities.values()))]

    def populate(random: Random) -> State:
        return State(
            {name: tuple(_row(entity, number, random) for number in range(rows)) for name, entity in entities.items()}
        )

    return Environment(
        name=f"world of {tables} tables and {rows} rows",
        title="World",
        object_name="desk",
        summary="A generated world.",
        entities=entities,
        tools={tool.name: tool for tool in tools},
        populate=populate,
    )


def _entity(kind: str) -> Entity:
    fields = {"id": Field(TEXT), "name": Field(TEXT), "closed": Field(BOOLEAN), "paid": Field(BOOLEAN)}
    return Entity(f"{kind}s", kind, "id", {**fields, "left": Field(MONEY)})


def _row(entity: Entity, number: int, random: Random) -> Row:
    prefix = entity.singular[:2].upper()
    return Row(
        {
            "id": f"{prefix}-{number:04d}",
            "name": f"{entity.singular} {number}",
            "closed": random.random() < 1 / 4,
            "paid": random.random() < 1 / 2,
            "left": random.randint(0, 900_00),
        }
    )


def _tools(entity: Entity, entities: list[Entity]) -> list[Tool]:
    noun, other = entity.singular.capitalize(), entities[(entities.index(entity) + 1) % len(entities)]
    one = Parameter("id", TEXT, "Which one.", FromLookup(entity))
    several = Parameter("ids", TEXTS, "Which ones.", FromLookup(entity))
    second = Parameter("other", TEXT, "The other one.", FromLookup(other))
    amount = Parameter("amount", MONEY, "How much.", FromUser(Amount(1_00, 700_00)), malformed=None)
    done = success_result("Whether it was done.")

    def closed(table: Entity, name: str) -> Term:
        return exists(table, lambda row: (row.id == argument(name)) & row.closed)

    def left(name: str) -> Term:
        return value_of(entity, lambda row: row.id == argument(name), "left", 0)

    def named(item: Term) -> Term:
        return exists(entity, lambda row: (row.id == item) & row.closed)

    return [
        Tool(
            f"Find{noun}",
            f"Finds a {entity.singular}.",
            (Parameter("name", TEXT, "Its name.", FromUser(FieldValue(entity, "name"))),),
            results=(
                RowsResult("found", "What was found.", entity, lambda row: row.name == argument("name"), ("id",)),
            ),
            phrases=Phrases("Find {name}.", noun_phrase="{name}"),
        ),
        Tool(
            f"Pay{noun}",
            f"Pays for a {entity.singular}.",
            (one, amount),
            fails=(
                Fails("There is not enough left.", argument("amount") > left("id")),
                Fails("It is closed.", closed(entity, "id")),
            ),
            effects=(
                Update(
                    entity, lambda row: row.id == argument("id"), {"left": lambda row: row.left - argument("amount")}
                ),
            ),
            results=(done,),
            phrases=Phrases("Pay {amount} for {id}.", outcome="{amount} was paid for {id}."),
        ),
        Tool(
            f"Close{noun}",
            f"Closes one or more {entity.table}.",
            (several,),
            fails=(Fails("One is closed.", any_item(argument("ids"), named)),),
            effects=(
                Update(
                    entity,
                    lambda row: any_item(argument("ids"), lambda item: row.id == item),
                    {"closed": lambda row: ~(row.id == "")},
                ),
            ),
            results=(done,),
            phrases=Phrases("Close {ids}.", outcome="{ids} are closed."),
        ),
        Tool(
            f"Join{noun}",
            f"Joins a {entity.singular} and a {other.singular}.",
            (one, second),
            fails=(
                Fails("The first is closed.", closed(entity, "id")),
                Fails("The second is closed.", closed(other, "other")),
            ),
            effects=(Update(entity, lambda row: row.id == argument("id"), {"paid": lambda row: ~row.paid}),),
            results=(done,),
            phrases=Phrases("Join {id} and {other}.", outcome="{id} and {other} are joined."),
        ),
        Tool(
            f"Confirm{noun}",
            f"Confirms that a {entity.singular} may be changed.",
            (one,),
            results=(done,),
            compliance=True,
        ),
    ]


def rules(environment: Environment) -> list[Rule]:
    """Five rules for each table: same object before and after, a duty, a limit, a deadline."""
    found: list[Rule] = []
    for entity in environment.entities.values():
        noun = entity.singular.capitalize()
        for name, formula in {
            "found": f"forall x: G(Close{noun}(x in ids) -> O Find{noun}(x in result.found.id))",
            "confirmed": f"forall x: G(Pay{noun}(id == x) -> O[<= 5min] Confirm{noun}(id == x))",
            "once": f"forall x: G(Join{noun}(id == x) -> WX G !Join{noun}(id == x))",
            "limit": f"forall x: G(Pay{noun}(id == x) -> sum(amount of Pay{noun}(id == x) [<= 1d]) <= 500)",
            "order": f"G(Join{noun} -> !Y O Close{noun})",
        }.items():
            found.append(Rule(id=f"{name}-{entity.singular}", formula=formula))
    check_rules(found, environment)
    return found


def seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def measure(tables: int, rows: int) -> None:
    environment = world(tables, rows)
    given = rules(environment)
    checked = seconds(lambda: analyse_rules(environment, given))
    first = seconds(lambda: [*synthesize(environment, given, count=1, length=LENGTH, seed=0)])
    with counted_z3_use() as use:
        traces = seconds(lambda: [*synthesize(environment, given, count=50, length=LENGTH, seed=1)])
    print(
        f"{len(environment.tools):>6}{len(given):>6}{rows:>6}{checked:>12.1f}{first:>12.1f}"
        f"{50 / traces:>10.0f}{use.queries / 50:>10.1f}{use.seconds / traces:>9.0%}",
        flush=True,
    )


def measure_environment(name: str) -> None:
    domain = load_domain(name)
    given = load_rules(domain.rules_file)
    check_rules(given, domain.environment, domain.regulation)
    analyses: list[RuleSetAnalysis] = []
    checked = seconds(lambda: analyses.append(analyse_rules(domain.environment, given)))
    declared = seconds(lambda: lint_declaration(domain.environment, given, domain.regulation))
    undecided = [finding.message for finding in analyses[0].findings if finding.kind == "undecided"]
    names = sum(1 + message.count(", ") + message.count(" and ") for message in undecided)
    print(
        f"{domain.environment.name:<16}{len(domain.environment.tools):>7}{len(given):>6}{checked:>12.1f}"
        f"{declared:>12.1f}{names:>17}",
        flush=True,
    )


def main() -> None:
    sizes = [tuple(map(int, size.split("x"))) for size in sys.argv[1:]] or [
        (3, 3),
        (3, 30),
        (3, 300),
        (3, 1000),
        (6, 30),
    ]
    print("tools rules  rows rules check  first trace  traces/s  queries    in Z3")
    for tables, rows in sizes:
        measure(tables, rows)
    print("environment       tools rules rules check   env check   left undecided")
    for name in LARGE:
        measure_environment(name)


if __name__ == "__main__":
    main()

"""Write the reference actions of tau2's airline tasks as transcripts, one conversation a line.

    python reference_actions.py OUT.jsonl

Needs the package inspect-evals, which has the tasks, the tools and the data; lawtrace is not imported. Each
conversation has the user's request, look-ups of everything that the task's customers have (profile, reservations,
status of each flight), and then the task's reference actions, called on a fresh copy of the data. The tasks presume
that the customer agrees to each of them, so a "Yes." stands before each.
"""

import gzip
import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

Action = tuple[str, dict[str, Any]]
NO_DATA = ("calculate", "transfer_to_human_agents")


def conversation(task: dict[str, Any], tools: Any) -> dict[str, Any]:
    """The transcript of a task's reference actions."""
    actions: list[Action] = [(one["name"], one["arguments"]) for one in task["evaluation_criteria"]["actions"] or ()]
    scenario = task["user_scenario"]["instructions"]
    said = "\n".join(filter(None, (scenario["reason_for_call"], scenario["known_info"], scenario["task_instructions"])))
    messages: list[dict[str, Any]] = [{"role": "user", "content": said}]
    known = look_ups(actions, tools)
    for number, (name, arguments) in enumerate([*known, *actions]):
        if number >= len(known):
            messages.append({"role": "user", "content": "Yes."})
        function = {"name": name, "arguments": json.dumps(arguments)}
        call = {"id": f"call_{number}", "type": "function", "function": function}
        messages += [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": call["id"], "content": answer(tools, name, arguments)},
        ]
    return {"id": f"task {task['id']}", "messages": messages}


def look_ups(actions: list[Action], tools: Any) -> list[Action]:
    """Calls that show all that there is to know about the customers."""
    users: dict[str, None] = {}
    for _, arguments in actions:
        if "user_id" in arguments:
            users[arguments["user_id"]] = None
        elif "reservation_id" in arguments:
            users[tools.db.reservations[arguments["reservation_id"]].user_id] = None
    found: list[Action] = []
    for user in users:
        found.append(("get_user_details", {"user_id": user}))
        for reservation in tools.db.users[user].reservations:
            found.append(("get_reservation_details", {"reservation_id": reservation}))
            found.extend(
                ("get_flight_status", {"flight_number": flight.flight_number, "date": flight.date})
                for flight in tools.db.reservations[reservation].flights
            )
    return found


def answer(tools: Any, name: str, arguments: dict[str, Any]) -> str:
    """What the tool says to the call."""
    if name in NO_DATA:
        return "done"
    try:
        return getattr(tools, name)(**{key: objects(key, value) for key, value in arguments.items()})
    except import_module("inspect_ai.tool").ToolError as error:
        return f"Error: {error}"


def objects(name: str, value: Any) -> Any:
    """The objects that the tools take instead of JSON."""
    model: Any = import_module("inspect_evals.tau2.airline.data_model")
    kinds = {"flights": model.FlightInfo, "passengers": model.Passenger, "payment_methods": model.Payment}
    return [kinds[name](**one) for one in value] if name in kinds else value


def main(out: Path) -> None:
    tau2 = Path(import_module("inspect_evals.tau2.utils").__file__ or "").parent / "data" / "domains" / "airline"
    airline: Any = import_module("inspect_evals.tau2.airline.AirlineAgentTools").AirlineAgentTools
    store: Any = import_module("inspect_ai.util").Store
    packed, plain = tau2 / "tasks.json.gz", tau2 / "tasks.json"
    tasks = json.loads(gzip.decompress(packed.read_bytes()) if packed.exists() else plain.read_bytes())
    with out.open("w", encoding="utf-8") as file:
        for task in tasks:
            tools = airline(store=store())
            tools.initialize()
            file.write(json.dumps(conversation(task, tools)) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))

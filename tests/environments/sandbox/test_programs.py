"""Ordinary programs in the sandbox: their tools and environment, and the reported status."""

from collections.abc import Callable

import pytest

from lawtrace.environments.sandbox import Limits, Program, Raised, Reply, Returned, Sandbox, Toolset, ToolSignature
from lawtrace.schemas.attempt_rows import Execution
from lawtrace.schemas.events import Json

Run = Callable[[str], Execution]


def output_of(execution: Execution) -> str:
    assert execution.status == "finished", execution
    assert not execution.died
    assert (execution.error, execution.error_type, execution.line) == (None, None, None)
    return execution.output


def test_the_fields_of_a_result_are_attributes_too(run: Run) -> None:
    source = """
import copy, json
r = Manager.Echo(first={"rows": [{"id": "P-1"}]}, second=2)
print(r.first.rows[0].id == r["first"]["rows"][0]["id"], json.dumps(r), copy.deepcopy(r) == r)
print(getattr(r, "second", None), getattr(r, "third", None), r.get("third"), "third" in r)
match r:
    case {"second": 2}: print("matched")
print(Manager.Echo(first=r).first.second)  # a result can be an argument
"""
    lines = output_of(run(source)).splitlines()
    assert lines[0] == 'True {"first": {"rows": [{"id": "P-1"}]}, "second": 2} True'
    assert lines[1:] == ["2 None None False", "matched", "2"]


@pytest.mark.parametrize(
    ("access", "error"),
    [
        ("r['third']", "KeyError: 'third'"),
        ("r.third", "AttributeError: the result has no field 'third'; it has 'first'"),
        ("r[0]", "KeyError: 0"),
        ("r.first.second", "AttributeError: 'int' object has no attribute 'second'"),
    ],
)
def test_a_missing_field_is_an_ordinary_error(run: Run, access: str, error: str) -> None:
    assert run(f"r = Manager.Echo(first=1)\n{access}").error == error


def test_help_equals_the_documentation(sandbox: Sandbox) -> None:
    echo = ToolSignature(("first",), ("first",), "Say it again.")
    source = "print(Manager.Echo.__doc__)\nhelp(Manager.Echo)\nhelp(Manager)"
    program = Program(source, Toolset("Manager", {"Echo": echo}, about="A manager of things."))
    output = output_of(sandbox.run(program, lambda _tool, _arguments: Returned(None)))
    assert output.startswith("Say it again.")
    assert output.count("Say it again.") == 3
    assert output.count("Echo(first)") == 2
    assert "A manager of things." in output


FIND = Toolset("Bank", {"Find": ToolSignature(("owner", "kinds", "most"), ("owner", "kinds"), "Find accounts.")})


def test_optional_parameters_have_a_default(sandbox: Sandbox) -> None:
    source = "import inspect\nprint(inspect.signature(Bank.Find))"
    assert output_of(sandbox.run(Program(source, FIND), lambda _tool, _arguments: Returned(None))) == (
        "(owner, kinds, most=None)\n"
    )


def test_a_worker_receives_changed_tools(sandbox: Sandbox) -> None:
    for toolset, call in ((FIND, "Bank.Find('Ada', [])"), (Toolset.untyped("Desk", {"Ask": ()}), "Desk.Ask()")) * 2:
        execution = sandbox.run(Program(f"print({call}, 'Bank' in globals())", toolset), lambda _t, _a: Returned(1))
        assert output_of(execution) == f"1 {toolset is FIND}\n"


def test_modules_handle_a_fork_of_the_program(run: Run) -> None:
    source = """
import os, random, threading
threading.Thread(target=lambda: None).start()
before = random.getstate()
if os.fork() == 0:
    os._exit(0 if random.getstate() != before and threading.active_count() == 1 else 1)
print(os.wait()[1])
"""
    assert output_of(run(source)) == "0\n"


def test_positional_arguments_get_their_documented_names(run: Run) -> None:
    assert output_of(run("print(Manager.Echo(1, second=(2, 3)))")) == "{'first': 1, 'second': [2, 3]}\n"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("Manager.Echo(1, 2, 3)", "Echo() takes 2 positional arguments but 3 were given"),
        ("Manager.Echo(1, first=1)", "Echo() got multiple values for argument 'first'"),
        ("Manager()", "'Manager' object is not callable"),
        ("Manager.Echo({1, 2})", "a value of type set is not JSON serializable"),
        ("Manager.Echo({1: 2})", "keys must be strings, not int"),
    ],
)
def test_invalid_python_arguments_are_a_type_error_without_a_call(run: Run, call: str, message: str) -> None:
    execution = run(call)
    assert (execution.status, execution.error, execution.calls) == ("exception", f"TypeError: {message}", 0)


@pytest.mark.parametrize(
    "value",
    [
        "float('nan')",
        "float('-inf')",
        "'\\ud800'",
        "{'\\ud800': 1}",
        "10 ** 5000",
        "'x' * (2 ** 20)",
        "(lambda a: a.append(a) or a)([])",
    ],
)
def test_values_outside_json_are_a_value_error_without_a_call(run: Run, value: str) -> None:
    execution = run(f"try:\n    Manager.Echo({value})\nexcept ValueError:\n    print(Manager.Echo('still here'))")
    assert output_of(execution) == "{'first': 'still here'}\n"
    assert execution.calls == 1


def test_arguments_as_deep_as_allowed_arrive(run: Run) -> None:
    source = "deep = []\nfor _ in range({depth}):\n    deep = [deep]\nManager.Echo(first=deep)"
    assert output_of(run(source.format(depth=62))) == ""
    assert run(source.format(depth=64)).error_type == "ValueError"


def test_an_unknown_attribute_names_the_nearest_tool(run: Run) -> None:
    execution = run("x = 1\nManager.Ecko(1)")
    assert execution.error == "AttributeError: 'Manager' has no tool 'Ecko'; the nearest is 'Echo'"
    assert (execution.error_type, execution.line) == ("AttributeError", 2)
    assert output_of(run("print(hasattr(Manager, 'Echo'), hasattr(Manager, 'Foo'))")) == "True False\n"


def test_a_built_in_exception_is_itself(run: Run) -> None:
    source = "try:\n    Manager.Miscount()\nexcept TypeError as e:\n    print(isinstance(e, ToolError), e)"
    assert output_of(run(source)) == "False one too many\n"


def test_an_unknown_tool_reaches_the_handler(sandbox: Sandbox, program: Callable[[str], Program]) -> None:
    seen: list[tuple[str, dict[str, Json]]] = []

    def handler(tool: str, arguments: dict[str, Json]) -> Reply:
        seen.append((tool, arguments))
        return Raised("InvalidArguments", "")

    forged = "import json, os, struct\nb = json.dumps({'tool': 'Secret', 'arguments': {'x': 1}}).encode()\n"
    execution = sandbox.run(program(forged + "os.write(3, struct.pack('!I', len(b)) + b)"), handler)
    assert seen == [("Secret", {"x": 1})]
    assert (execution.status, execution.calls) == ("finished", 1)


def test_the_standard_library_classes_and_functions(run: Run) -> None:
    source = """
import json, re, sqlite3, datetime as dt
from dataclasses import dataclass
from typing import get_type_hints

@dataclass
class Payee:
    name: str
    def greet(self): return f"Hello {self.name}"

def names(): yield from ("Ada", "Grace")

print([Payee(n).greet() for n in names()], dt.date(2024, 2, 29).isoformat(), get_type_hints(Payee), json.dumps([1]))
"""
    assert output_of(run(source)) == "['Hello Ada', 'Hello Grace'] 2024-02-29 {'name': <class 'str'>} [1]\n"


def test_nothing_but_the_standard_library(run: Run) -> None:
    assert run("import pytest").error == "ModuleNotFoundError: No module named 'pytest'"
    assert run("import environments").error_type == "ModuleNotFoundError"


def test_input_fails_at_once(run: Run) -> None:
    execution = run("input('PIN? ')")
    assert (execution.error, execution.output) == ("EOFError: EOF when reading a line", "PIN? ")


@pytest.mark.parametrize("ending", ["import sys; sys.exit()", "exit(0)", "quit()", "raise SystemExit(None)"])
def test_exit_with_success_is_a_normal_end(run: Run, ending: str) -> None:
    assert output_of(run(f"print('bye')\n{ending}\nprint('not reached')")) == "bye\n"


@pytest.mark.parametrize(
    ("source", "line"),
    [("x = 1\nif x\n    pass", 2), ("def f(:\n  pass", 1), ("x = 1\n\0", None), ("x = '\ud800'", None)],
)
def test_a_program_that_does_not_parse(run: Run, source: str, line: int | None) -> None:
    execution = run(source)
    assert execution.status == "syntax_error"
    if line is not None:
        assert (execution.error_type, execution.line) == ("SyntaxError", line)


def test_the_error_location_is_a_line_of_the_program(run: Run) -> None:
    execution = run("import json\ndef parse(text):\n    return json.loads(text)\n\nparse('{')")
    assert (execution.status, execution.error_type, execution.line) == ("exception", "JSONDecodeError", 3)


def test_an_error_is_one_bounded_line(run: Run) -> None:
    assert run("raise KeyError('accounts')").error == "KeyError: 'accounts'"
    assert run("raise ValueError('a\\nb')").error == "ValueError: a"
    assert run("raise ValueError").error == "ValueError"
    assert len(run("raise ValueError('x' * 10**6)").error or "") < 600
    assert run("raise ValueError('\\ud800')").error == r"ValueError: \ud800"


def test_threads_belong_to_the_program(run: Run) -> None:
    source = """
import threading, time, atexit
results = []
def work(n):
    time.sleep(0.02)
    results.append(Manager.Echo(n)["first"])
atexit.register(lambda: print(sorted(results)))
for n in range(4):
    threading.Thread(target=work, args=(n,)).start()
"""
    execution = run(source)
    assert output_of(execution) == "[0, 1, 2, 3]\n"
    assert execution.calls == 4


def test_the_same_program_gives_the_same_execution_in_another_sandbox(limits: Limits) -> None:
    source = "import random\nprint({str(n) for n in range(50)}, random.random(), object())\nraise ValueError(object())"
    executions: list[Execution] = []
    tools = Toolset.untyped("Manager", {})
    for _ in range(2):
        with Sandbox(limits) as sandbox:
            sandbox.run(Program("x = 1", tools), lambda _tool, _arguments: Returned(None))
            executions.append(sandbox.run(Program(source, tools), lambda _tool, _arguments: Returned(None)))
    assert executions[0] == executions[1]
    assert executions[0].error == "ValueError: <object object at 0x...>"


def test_two_sandboxes_at_once(sandbox: Sandbox, limits: Limits, program: Callable[[str], Program]) -> None:
    with Sandbox(limits) as other:

        def nested(_tool: str, _arguments: dict[str, Json]) -> Reply:
            return Returned(other.run(program("print('inner')"), lambda _t, _a: Returned(None)).output)

        assert output_of(sandbox.run(program("print(Manager.Echo())"), nested)) == "inner\n\n"

"""Programs see the clock of their session: reading the time, pauses, waits with a timeout."""

from collections.abc import Callable

import pytest

from lawtrace.environments.sandbox import PauseClock, Program, Reply, Returned, Sandbox
from lawtrace.schemas.events import Json

NINE = 1_772_442_000  # 2026-03-02 09:00:00


@pytest.fixture
def show(sandbox: Sandbox, program: Callable[[str], Program]) -> Callable[[str], list[str]]:
    """Runs a program whose calls take a second each, and returns the lines that it prints."""

    def run(source: str) -> list[str]:
        clock = PauseClock(NINE)

        def answer(_tool: str, arguments: dict[str, Json]) -> Reply:
            began = clock.now - NINE
            clock.advance_time(1)
            return Returned({**arguments, "began": began})

        execution = sandbox.run(program(source), answer, clock)
        assert execution.status == "finished", execution
        return execution.output.splitlines()

    return run


READINGS = {
    "datetime.now()": "2026-03-02 09:00:00",
    "datetime.now(timezone(timedelta(hours=1)))": "2026-03-02 10:00:00+01:00",
    "datetime.utcnow()": "2026-03-02 09:00:00",
    "datetime.today()": "2026-03-02 09:00:00",
    "date.today()": "2026-03-02",
    "repr(datetime.now())": "datetime.datetime(2026, 3, 2, 9, 0)",
    "type(datetime.now()) is datetime and pickle.loads(pickle.dumps(datetime.now())) == datetime.now()": "True",
    "time.time(), time.time_ns() // 10**9": f"({NINE}.0, {NINE})",
    "time.monotonic(), time.perf_counter(), time.perf_counter_ns()": "(0.0, 0.0, 0)",
    "time.clock_gettime(time.CLOCK_REALTIME), time.process_time() < 60": f"({NINE}.0, True)",
    "time.strftime('%d.%m.%Y %H:%M')": "02.03.2026 09:00",
    "time.strftime('%Y', (2001, 2, 3, 4, 5, 6, 0, 0, 0))": "2001",
    "time.ctime(), time.asctime()": "('Mon Mar  2 09:00:00 2026', 'Mon Mar  2 09:00:00 2026')",
    "time.ctime(0), time.asctime(time.gmtime(0))": "('Thu Jan  1 00:00:00 1970', 'Thu Jan  1 00:00:00 1970')",
    "time.localtime().tm_hour, time.gmtime().tm_year, time.gmtime(0).tm_year": "(9, 2026, 1970)",
}


def test_every_clock_shows_the_time_of_the_session(show: Callable[[str], list[str]]) -> None:
    imports = "import pickle, time\nfrom datetime import date, datetime, timedelta, timezone\n"
    assert show(imports + "\n".join(f"print(({reading}))" for reading in READINGS)) == list(READINGS.values())


def test_calls_and_pauses_let_time_pass_and_nothing_else_does(show: Callable[[str], list[str]]) -> None:
    source = """
import time
start = time.monotonic()
sum(range(100_000))
print(time.monotonic() - start)
Manager.Echo(1)
time.sleep(0.6); time.sleep(0.6)
print(Manager.Echo(2)["began"], round(time.monotonic() - start, 3))
time.sleep(3600)
print(Manager.Echo(3)["began"], time.strftime("%H:%M:%S"))
"""
    assert show(source) == ["0.0", "2 3.2", "3603 10:00:04"]


@pytest.mark.parametrize(
    ("wait", "seconds"),
    [
        ("asyncio.run(asyncio.sleep(600))", 600),
        ("threading.Event().wait(600)", 600),
        ("catch(queue.Empty, queue.Queue().get, True, 600)", 600),
        ("catch(TimeoutError, asyncio.run, asyncio.wait_for(for_ever(), 600))", 600),
        ("threading.Event().wait(0)", 0),
        ("time.sleep(10**12)", 253_402_300_799 - NINE),
    ],
)
def test_a_wait_with_a_timeout_is_a_pause(show: Callable[[str], list[str]], wait: str, seconds: int) -> None:
    source = f"""
import asyncio, queue, threading, time
def catch(error, function, *arguments):
    try: function(*arguments)
    except error: pass
async def for_ever(): await asyncio.Event().wait()
{wait}
print(Manager.Echo()["began"])
"""
    assert show(source) == [str(seconds)]


def test_a_pause_leaves_other_threads_room(show: Callable[[str], list[str]]) -> None:
    source = """
import threading, time
thread = threading.Thread(target=lambda: [Manager.Echo(number) for number in range(20)])
thread.start()
while thread.is_alive(): time.sleep(0.01)
print(Manager.Echo()["began"] < 60)
"""
    assert show(source) == ["True"]


def test_wrong_durations_are_errors(show: Callable[[str], list[str]]) -> None:
    source = """
import time
for seconds in (-1, "x", None, float("nan"), float("inf")):
    try: time.sleep(seconds)
    except (ValueError, TypeError, OverflowError) as error: print(type(error).__name__)
print(Manager.Echo()["began"])
"""
    assert show(source) == ["ValueError", "TypeError", "TypeError", "ValueError", "OverflowError", "0"]

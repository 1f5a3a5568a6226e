"""The seccomp filter, run by an interpreter of the few instructions that it uses."""

import errno
import fcntl
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawtrace.environments.sandbox.seccomp import ARCHITECTURES, REFUSED, make_filter

ALLOWED, KILLED = "allowed", "killed"


def verdict(machine: str, number: int, first_argument: int = 0, second: int = 0, audit: int | None = None) -> int | str:
    """What the kernel would do with a call: allow it, kill, or fail with this errno."""
    code = make_filter(machine)
    assert code is not None
    data = struct.pack("=IIQ", number, ARCHITECTURES[machine].audit if audit is None else audit, 0)
    data += struct.pack("=6Q", first_argument, second, 0, 0, 0, 0)
    program = [struct.unpack_from("=HBBI", code, at) for at in range(0, len(code), 8)]
    register, place = 0, 0
    while True:
        operation, yes, no, operand = program[place]
        place += 1
        match operation:
            case 0x20:
                (register,) = struct.unpack_from("=I", data, operand)
            case 0x15 | 0x35 | 0x45:
                true = {0x15: register == operand, 0x35: register >= operand, 0x45: bool(register & operand)}
                place += yes if true[operation] else no
            case 0x06 if operand == 0x7FFF0000:
                return ALLOWED
            case 0x06 if operand == 0x80000000:
                return KILLED
            case 0x06:
                assert operand >> 16 == 5
                return operand & 0xFFFF
            case _:
                raise AssertionError(f"an instruction that a filter of ours does not have: {operation:#x}")


machines = pytest.mark.parametrize("machine", ARCHITECTURES)


@machines
def test_every_refused_call_is_refused(machine: str) -> None:
    for name in (name for names in REFUSED.values() for name in names.split()):
        assert verdict(machine, ARCHITECTURES[machine].numbers[name]) == errno.EPERM, name


@machines
@given(number=st.integers(0, 600))
def test_every_other_call_is_allowed(machine: str, number: int) -> None:
    if number not in ARCHITECTURES[machine].numbers.values():
        assert verdict(machine, number, first_argument=2**40) == ALLOWED


@machines
@pytest.mark.parametrize(
    ("name", "argument", "expected"),
    [
        ("clone", 0x11, ALLOWED),  # fork: SIGCHLD
        ("clone", 0x3D0F00, ALLOWED),  # a thread
        *(("clone", 0x11 | flag, errno.EPERM) for flag in (0x10000000, 0x20000000, 0x40000000, 0x20000, 0x08000000)),
        ("clone3", 0, errno.ENOSYS),
        ("socket", 1, ALLOWED),
        *(("socket", family, errno.EAFNOSUPPORT) for family in (0, 2, 10, 16, 17, 38, 40)),
        ("prlimit64", 0, ALLOWED),
        ("prlimit64", 1, errno.EPERM),
    ],
)
def test_calls_filtered_by_argument(machine: str, name: str, argument: int, expected: int | str) -> None:
    assert verdict(machine, ARCHITECTURES[machine].numbers[name], argument) == expected


@machines
def test_locks_and_leases_are_refused_and_other_commands_of_fcntl_allowed(machine: str) -> None:
    number = ARCHITECTURES[machine].numbers["fcntl"]
    refused = {second for second in range(1100) if verdict(machine, number, 3, second) == errno.EPERM}
    assert {fcntl.F_GETLK, fcntl.F_SETLK, fcntl.F_SETLKW, fcntl.F_OFD_SETLK, fcntl.F_SETLEASE} < refused
    assert not {fcntl.F_DUPFD, fcntl.F_SETFD, fcntl.F_GETFL, fcntl.F_SETFL, fcntl.F_DUPFD_CLOEXEC} & refused


def test_a_foreign_architecture_is_killed_and_a_foreign_convention_refused() -> None:
    assert verdict("x86_64", 0, audit=0x40000003) == KILLED  # i386, through int 0x80
    assert verdict("x86_64", 0x40000000 | 59) == errno.ENOSYS  # x32


def test_an_unknown_machine_has_no_filter() -> None:
    assert make_filter("vax") is None


@machines
def test_call_numbers_are_unique(machine: str) -> None:
    numbers = ARCHITECTURES[machine].numbers
    assert len(set(numbers.values())) == len(numbers)

"""The system calls that no program in the sandbox may make, as a filter for the kernel (seccomp, classic BPF).

The other layers leave a program nothing that these calls could reach. They are refused all the same, because each one
leads into parts of the kernel that ordinary programs never use and that have had vulnerabilities. A refused call fails
with an error code, so a program sees an ordinary `OSError`; a process of a foreign architecture is killed.

Four are refused by argument: `clone` into new namespaces, `socket` with any but Unix addresses (AF_VSOCK would bypass
the empty network of a virtual machine, and ports and buffers of Internet addresses outlive a program), `prlimit64` on
another process, and the locks, leases and notices of `fcntl`: all sandboxes see the same files and devices of the host,
so a lock or a watch on one of them would be seen by programs in the others.
"""

import errno
import platform
import struct
from collections.abc import Iterator
from dataclasses import dataclass

REFUSED = {
    "other processes": "ptrace process_vm_readv process_vm_writev process_madvise pidfd_getfd kcmp ioprio_set",
    "mounts": "mount umount2 pivot_root move_mount open_tree fsopen fsconfig fsmount fspick mount_setattr",
    "namespaces": "unshare setns",
    "the kernel's own machinery": "bpf perf_event_open userfaultfd io_uring_setup io_uring_enter io_uring_register",
    "keys, which are not in any namespace": "keyctl add_key request_key",
    "files by handle, past the mounts": "open_by_handle_at name_to_handle_at fanotify_init",
    "memory outside of the limits and of /tmp": "memfd_create memfd_secret shmget shmat shmctl msgget semget mq_open",
    "locks and watches of files that others have, too": "flock inotify_add_watch",
    "the machine": "init_module finit_module delete_module kexec_load kexec_file_load reboot swapon swapoff quotactl"
    " acct syslog vhangup settimeofday clock_settime adjtimex clock_adjtime sethostname setdomainname",
}
"""Refused system calls by subject, named as in the kernel's tables."""


@dataclass(frozen=True, slots=True)
class Architecture:
    """A processor as seccomp sees it: its audit number, and the numbers of its system calls."""

    audit: int
    numbers: dict[str, int]
    ceiling: int | None = None
    """Numbers from here on belong to another calling convention."""


def _numbers(table: str) -> dict[str, int]:
    return {name: int(number) for name, number in (entry.split(":") for entry in table.split())}


_COMMON = _numbers("""
    pidfd_getfd:438 process_madvise:440 move_mount:429 open_tree:428 fsopen:430 fsconfig:431 fsmount:432 fspick:433
    mount_setattr:442 io_uring_setup:425 io_uring_enter:426 io_uring_register:427 memfd_secret:447 clone3:435
""")

ARCHITECTURES = {
    "x86_64": Architecture(
        0xC000003E,
        _COMMON
        | _numbers("""
            ptrace:101 process_vm_readv:310 process_vm_writev:311 kcmp:312 mount:165 umount2:166 pivot_root:155
            unshare:272 setns:308 bpf:321 perf_event_open:298 userfaultfd:323 keyctl:250 add_key:248 request_key:249
            open_by_handle_at:304 name_to_handle_at:303 fanotify_init:300 memfd_create:319 shmget:29 shmat:30 shmctl:31
            msgget:68 semget:64 mq_open:240 init_module:175 finit_module:313 delete_module:176 kexec_load:246
            kexec_file_load:320 reboot:169 swapon:167 swapoff:168 quotactl:179 acct:163 syslog:103 vhangup:153
            settimeofday:164 clock_settime:227 adjtimex:159 clock_adjtime:305 sethostname:170 setdomainname:171
            clone:56 socket:41 prlimit64:302 ioprio_set:251 flock:73 fcntl:72 inotify_add_watch:254
        """),
        ceiling=0x40000000,  # x32
    ),
    "aarch64": Architecture(
        0xC00000B7,
        _COMMON
        | _numbers("""
            ptrace:117 process_vm_readv:270 process_vm_writev:271 kcmp:272 mount:40 umount2:39 pivot_root:41
            unshare:97 setns:268 bpf:280 perf_event_open:241 userfaultfd:282 keyctl:219 add_key:217 request_key:218
            open_by_handle_at:265 name_to_handle_at:264 fanotify_init:262 memfd_create:279 shmget:194 shmat:196
            shmctl:195 msgget:186 semget:190 mq_open:180 init_module:105 finit_module:273 delete_module:106
            kexec_load:104 kexec_file_load:294 reboot:142 swapon:224 swapoff:225 quotactl:60 acct:89 syslog:116
            vhangup:58 settimeofday:170 clock_settime:112 adjtimex:171 clock_adjtime:266 sethostname:161
            setdomainname:162 clone:220 socket:198 prlimit64:261 ioprio_set:30 flock:32 fcntl:25 inotify_add_watch:27
        """),
    ),
}

# <linux/filter.h>, <linux/seccomp.h>, <linux/sched.h>, <linux/socket.h>
LOAD, EQUAL, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
ALLOW, KILL, FAIL = 0x7FFF0000, 0x80000000, 0x00050000
NUMBER, ARCHITECTURE, FIRST_ARGUMENT, SECOND_ARGUMENT = (
    0,
    4,
    16,
    24,
)  # offsets in struct seccomp_data; the low half, little-endian
NEW_NAMESPACES = 0x7E020080  # CLONE_NEW{USER,PID,NET,NS,CGROUP,UTS,IPC,TIME}
FAMILIES = (1,)  # AF_UNIX
SHARED_FILES = (5, 6, 7, 36, 37, 38, 1024, 1026)  # F_GETLK, F_SETLK, F_SETLKW, those of F_OFD_, F_SETLEASE, F_NOTIFY


def make_filter(machine: str | None = None) -> bytes | None:
    """The filter as `bwrap --seccomp` reads it; None on a machine whose system call numbers are unknown."""
    architecture = ARCHITECTURES.get(machine or platform.machine())
    if architecture is None:
        return None
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in _instructions(architecture))


_Instruction = tuple[int, int, int, int]
"""Code, jump distance if true, jump distance if false, operand."""


def _instructions(architecture: Architecture) -> Iterator[_Instruction]:
    numbers = architecture.numbers
    yield LOAD, 0, 0, ARCHITECTURE
    yield EQUAL, 1, 0, architecture.audit
    yield RETURN, 0, 0, KILL
    yield LOAD, 0, 0, NUMBER
    if architecture.ceiling is not None:
        yield AT_LEAST, 0, 1, architecture.ceiling
        yield RETURN, 0, 0, FAIL | errno.ENOSYS
    for name in (name for names in REFUSED.values() for name in names.split()):
        yield EQUAL, 0, 1, numbers[name]
        yield RETURN, 0, 0, FAIL | errno.EPERM
    # Its flags are in memory, where a filter cannot look. The C library falls back to clone.
    yield EQUAL, 0, 1, numbers["clone3"]
    yield RETURN, 0, 0, FAIL | errno.ENOSYS
    yield EQUAL, 0, 4, numbers["clone"]
    yield LOAD, 0, 0, FIRST_ARGUMENT
    yield ANY_BIT, 0, 1, NEW_NAMESPACES
    yield RETURN, 0, 0, FAIL | errno.EPERM
    yield RETURN, 0, 0, ALLOW
    refused = FAIL | errno.EPERM
    yield from _by_argument(numbers["socket"], FIRST_ARGUMENT, FAMILIES, ALLOW, FAIL | errno.EAFNOSUPPORT)
    yield from _by_argument(numbers["fcntl"], SECOND_ARGUMENT, SHARED_FILES, refused, ALLOW)
    yield from _by_argument(numbers["prlimit64"], FIRST_ARGUMENT, (0,), ALLOW, refused)  # 0: the caller itself
    yield RETURN, 0, 0, ALLOW


def _by_argument(call: int, argument: int, values: tuple[int, ...], listed: int, other: int) -> Iterator[_Instruction]:
    """What is returned for one call, if its argument is one of the values, and if it is not."""
    yield EQUAL, 0, 3 + len(values), call
    yield LOAD, 0, 0, argument
    for place, value in enumerate(values):
        yield EQUAL, len(values) - place, 0, value
    yield RETURN, 0, 0, other
    yield RETURN, 0, 0, listed

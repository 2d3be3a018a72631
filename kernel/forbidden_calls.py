"""The system calls that no geometry needs, with their numbers on x86_64 and aarch64 (`-`: not there).

Never lists what is allowed: a new C library or Python would break on it.
"""

_NETWORK = """
socket 41 198, socketpair 53 199, connect 42 203, bind 49 200, listen 50 201, accept 43 202, accept4 288 242,
io_uring_setup 425 425, io_uring_enter 426 426, io_uring_register 427 427
"""

_OTHER_PROCESSES = """
fork 57 -, vfork 58 -, execve 59 221, execveat 322 281, ptrace 101 117, kcmp 312 272,
process_vm_readv 310 270, process_vm_writev 311 271, process_madvise 440 440,
pidfd_send_signal 424 424, pidfd_open 434 434, pidfd_getfd 438 438,
tkill 200 130, rt_sigqueueinfo 129 138, rt_tgsigqueueinfo 297 240,
setpriority 141 140, ioprio_set 251 30, migrate_pages 256 238, move_pages 279 239,
sched_setparam 142 118, sched_setscheduler 144 119, sched_setaffinity 203 122, sched_setattr 314 274
"""

_GROUP_LIMITS_AND_NAMESPACES = "setpgid 109 154, setsid 112 157, setrlimit 160 164, setns 308 268, unshare 272 97"

_FILES_PAST_LANDLOCK = """
chmod 90 -, fchmod 91 52, fchmodat 268 53, fchmodat2 452 452, chown 92 -, fchown 93 55, lchown 94 -, fchownat 260 54,
truncate 76 45, utime 132 -, utimes 235 -, futimesat 261 -, utimensat 280 88,
setxattr 188 5, lsetxattr 189 6, fsetxattr 190 7, removexattr 197 14, lremovexattr 198 15, fremovexattr 199 16,
setxattrat 463 463, removexattrat 466 466, file_setattr 469 469,
link 86 -, linkat 265 37, symlink 88 -, symlinkat 266 36, mknod 133 -, mknodat 259 33,
name_to_handle_at 303 264, open_by_handle_at 304 265
"""

_WHAT_OUTLIVES_A_PROCESS = "shmget 29 194, msgget 68 186, semget 64 190, mq_open 240 180"

_MEMORY_THAT_IS_A_FILE = "memfd_create 319 279, memfd_secret 447 447"

_WATCHING_OTHERS = "inotify_init 253 -, inotify_init1 294 26, inotify_add_watch 254 27, fanotify_init 300 262"

_THE_MACHINE = """
mount 165 40, umount2 166 39, pivot_root 155 41, chroot 161 51, open_tree 428 428, move_mount 429 429, fsopen 430 430,
fsconfig 431 431, fsmount 432 432, fspick 433 433, mount_setattr 442 442,
init_module 175 105, finit_module 313 273, delete_module 176 106, kexec_load 246 104, kexec_file_load 320 294,
reboot 169 142, swapon 167 224, swapoff 168 225, settimeofday 164 170, clock_settime 227 112, clock_adjtime 305 266,
adjtimex 159 171, bpf 321 280, perf_event_open 298 241, userfaultfd 323 282,
add_key 248 217, request_key 249 218, keyctl 250 219
"""

_ALL = (
    _NETWORK,
    _OTHER_PROCESSES,
    _GROUP_LIMITS_AND_NAMESPACES,
    _FILES_PAST_LANDLOCK,
    _WHAT_OUTLIVES_A_PROCESS,
    _MEMORY_THAT_IS_A_FILE,
    _WATCHING_OTHERS,
    _THE_MACHINE,
)


def _column(index: int) -> tuple[int, ...]:
    rows = [row.split() for group in _ALL for row in group.split(",")]
    return tuple(int(row[index]) for row in rows if row[index] != "-")


FORBIDDEN: dict[str, tuple[int, ...]] = {"x86_64": _column(1), "aarch64": _column(2)}
"""By machine; each answers EPERM."""

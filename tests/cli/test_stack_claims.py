"""A stack claims its data folder and its ports, and says who else has them."""

import os
import socket
import threading
from pathlib import Path

import pytest

from partmill.ports import ANY_FREE, QUIET_PORTS, Ports, listen, reserve
from partmill.stack import Stack
from partmill.stack_errors import DataFolderInUse, PortTaken
from partmill.stack_lock import StackLock
from tests.cli.seeing import seen


def test_a_data_folder_has_one_stack(tmp_path: Path) -> None:
    lock = StackLock(tmp_path, "up")
    lock.announce({"server": "http://127.0.0.1:8000"})
    with pytest.raises(DataFolderInUse, match=rf"`partmill up` \(process {os.getpid()}, http://127.0.0.1:8000\)"):
        Stack(tmp_path, ANY_FREE, "generate", waits_for_folder=True).start()
    lock.release()
    StackLock(tmp_path, "up").release()


def test_a_folder_that_makes_a_single_part_is_waited_for(tmp_path: Path) -> None:
    """flock belongs to the open file, so a second thread stands for a second process."""
    first = StackLock(tmp_path, "generate")
    claimed: list[StackLock] = []
    waiting = threading.Thread(target=lambda: claimed.append(StackLock(tmp_path, "generate", waits=True)))
    waiting.start()
    seen(lambda: "-> FLOCK" in Path("/proc/locks").read_text(), "the second one stands in line")
    assert not claimed
    first.release()
    waiting.join()
    claimed[0].release()


def test_a_taken_port_is_named_with_the_option_that_changes_it() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(PortTaken, match=rf"Port {port} \(API\) .* --port"):
            listen(port)
        with pytest.raises(PortTaken, match="--ui-port"):
            reserve(0, port)


def test_any_port_is_one_that_the_system_gives_nobody_else() -> None:
    for port in reserve(0, 0):
        assert port in QUIET_PORTS


def test_a_stack_that_can_not_start_gives_its_folder_back(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other, pytest.raises(PortTaken):
        Stack(tmp_path, Ports(other.getsockname()[1], 0, 0), "up").start()
    StackLock(tmp_path, "up").release()

"""A stack claims its data folder and its ports, and says who else has them."""

import socket
from pathlib import Path

import pytest

from partmill.ports import Ports, listen, reserve
from partmill.stack import Stack
from partmill.stack_errors import DataFolderInUse, PortTaken
from partmill.stack_lock import StackLock


def test_a_data_folder_has_one_stack(tmp_path: Path) -> None:
    lock = StackLock(tmp_path)
    lock.announce({"command": "up", "pid": 4321, "server": "http://127.0.0.1:8000"})
    with pytest.raises(DataFolderInUse, match=r"`partmill up` \(process 4321, http://127.0.0.1:8000\)"):
        Stack(tmp_path, Ports(0, 0, 0), "generate").start()
    lock.release()
    StackLock(tmp_path).release()


def test_a_taken_port_is_named_with_the_option_that_changes_it() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(PortTaken, match=rf"Port {port} \(API\) .* --port"):
            listen(port)
        with pytest.raises(PortTaken, match="--ui-port"):
            reserve(0, port)


def test_a_stack_that_can_not_start_gives_its_folder_back(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other, pytest.raises(PortTaken):
        Stack(tmp_path, Ports(other.getsockname()[1], 0, 0), "up").start()
    StackLock(tmp_path).release()

"""A file on its way from the server: hidden until it is whole and checked.

Never leaves anything behind: on any error the temporary file is removed and the target stays as it was.
"""

import hashlib
import os
import re
import secrets
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from partmill.documents import File
from partmill.errors import DownloadCorrupt


class PartialFile:
    """Receives the bytes of `file`, over several connections if need be, and becomes `target` at `commit()`."""

    def __init__(self, target: Path, file: File) -> None:
        self._target = target
        self._file = file
        # Not made from the target's name, which may be as long as a name can be.
        self._temporary = target.with_name(f".partmill-{secrets.token_hex(8)}")
        self.size = 0
        """Bytes received so far."""
        self.is_receiving = False
        """Whether the latest answer's body was taken."""

    def __enter__(self) -> Self:
        # "x" and not mkstemp: the finished file gets the permissions of any other file the user makes.
        self._stream = self._temporary.open("xb")
        self._digest = hashlib.sha256()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stream.close()
        self._temporary.unlink(missing_ok=True)

    @property
    def headers(self) -> dict[str, str]:
        """What to ask for: everything, or the rest. No compression, or ranges would count other bytes."""
        whole = {"accept-encoding": "identity"}
        return whole | {"range": f"bytes={self.size}-"} if self.size else whole

    def begin(self, status: int, headers: Mapping[str, str]) -> bool:
        """Whether the body that follows continues this file; a server that ignores the range starts it anew."""
        if status == 200:
            self.restart()
        start = re.match(r"bytes (\d+)-", headers.get("content-range", ""))
        continues = status == 206 and start is not None and int(start[1]) == self.size
        self.is_receiving = status == 200 or continues
        return self.is_receiving

    def write(self, chunk: bytes) -> None:
        """Take the next bytes.

        Raises:
            DownloadCorrupt: there are more than the job's status says.
        """
        self.size += len(chunk)
        if self.size > self._file.file_size_bytes:
            raise DownloadCorrupt(
                f"the {self._file.file_format} file is longer than its status says; nothing was saved"
            )
        self._digest.update(chunk)
        self._stream.write(chunk)

    def restart(self) -> None:
        """Forget all bytes received so far."""
        self._stream.seek(0)
        self._stream.truncate()
        self._digest = hashlib.sha256()
        self.size = 0

    @property
    def is_short(self) -> bool:
        """Whether bytes are missing."""
        return self.size < self._file.file_size_bytes

    @property
    def is_correct(self) -> bool:
        """Whether the bytes are exactly those of the job's status."""
        return self.size == self._file.file_size_bytes and self._digest.hexdigest() == self._file.sha256

    def commit(self) -> None:
        """Make the file visible at its target, replacing what was there. On disk before it is visible."""
        self._stream.flush()
        os.fsync(self._stream.fileno())
        self._temporary.replace(self._target)

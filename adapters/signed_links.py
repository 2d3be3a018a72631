"""Download links to the local store, signed with a key that all API processes of one data folder share.

Never hands the key out, and never logs a link.
"""

import os
import secrets
import tempfile
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from urllib.parse import quote, urlencode

from domain.links import check_link, signature_of
from domain.messages import StoreKey

PATH = "/v1/"
"""A published object's key begins with `artifacts/`, and so goes on as its address."""

KEY_FILE = "link-signing-key"
KEY_BYTES = 32
"""As long as the digest of HMAC-SHA256: longer adds nothing (RFC 2104, section 3)."""


class SigningKeyError(Exception):
    """The signing key's file can't be made or read; the message says why and names the file."""


class SignedLinks:
    """The `LinkMaker` of the local store."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret

    def link(self, key: StoreKey, file_name: str, expires_at: datetime) -> str:
        """An absolute path below the service's own address; the file name is in it where the key does not end so."""
        expires = str(int(expires_at.timestamp()))
        query = {"expires": expires, "signature": signature_of(self._secret, key, file_name, expires)}
        if file_name != _last_part(key):
            query["file_name"] = file_name
        return f"{PATH}{quote(key)}?{urlencode(query)}"

    def check(self, key: StoreKey, query: Mapping[str, str], now: datetime) -> str:
        """The file name that a link of ours gives the object.

        Raises:
            Refusal: `LinkForged` or `LinkExpired`.
        """
        file_name = query.get("file_name", _last_part(key))
        check_link(self._secret, key, file_name, query.get("expires", ""), query.get("signature", ""), now)
        return file_name


def load_signing_key(data_dir: Path) -> bytes:
    """The key of this data folder, made by the first process that asks; all that ask get the same one.

    Raises:
        SigningKeyError: the file can't be made or read, or holds something else.
    """
    path = data_dir / KEY_FILE
    try:
        if not path.exists():
            data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
            _create(path)
        secret = path.read_bytes()
    except OSError as error:
        raise SigningKeyError(f"{path}: {error.strerror}") from None
    if len(secret) != KEY_BYTES:
        raise SigningKeyError(f"{path} must hold {KEY_BYTES} bytes; delete it to have a new one made")
    return secret


def _create(path: Path) -> None:
    """Put a new key at `path`, whole, unless somebody else was quicker."""
    descriptor, name = tempfile.mkstemp(prefix=f".{KEY_FILE}-", dir=path.parent)  # mode 0600
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(secrets.token_bytes(KEY_BYTES))
            file.flush()
            os.fsync(file.fileno())
        os.link(name, path)  # unlike a rename, this never replaces a key that links were signed with already
    except FileExistsError:
        return
    finally:
        os.unlink(name)


def _last_part(key: str) -> str:
    return key.rpartition("/")[2]

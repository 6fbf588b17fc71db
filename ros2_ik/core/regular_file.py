"""Reading files that users name: never a pipe or device, which would block or have no end."""

import errno
import os
from pathlib import Path
import stat

LARGEST_TEXT = 50_000_000      # bytes


def read_file(path: str | Path, most: int) -> bytes:
    """
    Return the content of a regular file of at most `most` bytes, symbolic links followed.

    Raises OSError, or ValueError for what is no path: numbers would be open files.
    """
    if not isinstance(path, (str, os.PathLike)):
        raise ValueError(f'{path!r} is no path')
    found = os.stat(path)
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EINVAL, 'it is not a regular file', str(path))
    if found.st_size > most:
        raise OSError(errno.EFBIG, f'it has more than {most} bytes', str(path))
    return Path(path).read_bytes()


def read_text_file(path: str | Path, most: int = LARGEST_TEXT) -> str:
    """Return the UTF-8 text of a file; raises as `read_file`, and ValueError for other bytes."""
    return read_file(path, most).decode('utf-8')

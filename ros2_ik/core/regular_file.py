"""Reading files that somebody names, none of which may block or fill the memory."""

import errno
import os
from pathlib import Path
import stat

LARGEST_TEXT = 50_000_000      # bytes
PIECE = 1 << 20                # bytes
_KINDS = {stat.S_IFDIR: 'a folder', stat.S_IFIFO: 'a pipe', stat.S_IFSOCK: 'a socket',
          stat.S_IFCHR: 'a device', stat.S_IFBLK: 'a device'}


def read_file(path: str | Path, most: int) -> bytes:
    """
    Return the content of a regular file of at most `most` bytes, symbolic links followed.

    Raises OSError, whose `strerror` says what it is instead; ValueError for a path with a zero,
    or what is none: numbers would be open files.
    """
    if not isinstance(path, (str, os.PathLike)):
        raise ValueError(f'{path!r} is no path')
    # a pipe without a writer would be waited for
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    mode = os.fstat(handle).st_mode
    if not stat.S_ISREG(mode):
        os.close(handle)
        kind = _KINDS.get(stat.S_IFMT(mode), 'something else')
        raise OSError(errno.EINVAL, f'it is {kind}, not a regular file', str(path))
    content = bytearray()
    # piece by piece: a read of so much takes that memory first, and those in /proc say that they
    # are empty
    with os.fdopen(handle, 'rb') as file:
        while len(content) <= most and (piece := file.read(PIECE)):
            content += piece
    if len(content) > most:
        raise OSError(errno.EFBIG, f'it has more than {most} bytes', str(path))
    return bytes(content)


def read_text_file(path: str | Path, most: int = LARGEST_TEXT) -> str:
    """Return the UTF-8 text of a file; raises as `read_file`, and ValueError for other bytes."""
    return read_file(path, most).decode('utf-8')

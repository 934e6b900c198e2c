"""Files that are written whole or not at all."""

import errno
import os
import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any
from uuid import uuid4

from supred.common.arguments import one_line

# Errors of a full disk or quota; they do not name the file.
FULL = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)
# Errors of a file that is not opened; they tell nothing of what it holds.
UNOPENED = (errno.EMFILE, errno.ENFILE, errno.EACCES, errno.EPERM)
# Letters of a name that an error shows.
LONGEST_NAME = 80
_EXISTS = "{} exists; choose another name or pass --force (in Python overwrite=True)."
# The name of a file for the moment before it replaces another.
PASSING = re.compile(r"\.supred-[0-9a-f]{32}")


class OutputExistsError(OSError):
    """The file to be written is already there."""


def check_path(path: Any, name: str = "path") -> None:
    """Raise a TypeError if something is no path: a number would be a file that is open."""
    if not isinstance(path, str | os.PathLike) or isinstance(os.fspath(path), bytes):
        raise TypeError(
            f"{name}={path!r} is a {type(path).__name__}, not a path; give a string or a Path."
        )


def check_output(path: str | os.PathLike[str], *, overwrite: bool) -> None:
    """Raise an error, before any work, if a file cannot be written to `path`."""
    check_path(path)
    _check_name(path)
    if os.path.isdir(path):
        raise OutputExistsError(f"{path} is a folder; name a file.")
    if os.path.exists(path) and not os.path.isfile(path):
        raise OutputExistsError(f"{path} is not an ordinary file; name another.")
    path = _place_of(path)
    if path.is_symlink():  # still
        raise OutputExistsError(f"{path} is a link that leads back to itself; name another file.")
    if path.exists() and not overwrite:
        raise OutputExistsError(_EXISTS.format(path))
    if not path.absolute().parent.is_dir():
        raise FileNotFoundError(f"the folder {path.absolute().parent} does not exist; make it.")
    if not os.access(path.absolute().parent, os.W_OK):
        raise PermissionError(f"the folder {path.absolute().parent} cannot be written to.")


def _check_name(path: str | os.PathLike[str]) -> None:
    """Raise a ValueError if the system takes no such name."""
    if not os.fspath(path):  # as a Path it would be the folder that we are in
        raise ValueError(f"{path!r} cannot be the name of a file; choose another.")
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or one_line(error)
        name = repr(os.fsdecode(path))
        name = name if len(name) <= LONGEST_NAME else name[:LONGEST_NAME] + "..."
        raise ValueError(
            f"{name} cannot be the name of a file ({reason}); choose another."
        ) from None


@contextmanager
def atomic_write(path: str | os.PathLike[str], *, overwrite: bool) -> Iterator[IO[bytes]]:
    """Open a file for writing that appears under its name only when all of it is written.

    Where the system has files without a name (Linux), a kill leaves nothing behind, unless it comes
    in the microseconds between two names: then a file `.supred-...` stays until a file is written
    there again. A file that is replaced leaves its permissions to the new one; a symbolic link
    stays, and the file that it names is written.

    Parameters
    ----------
    path : path
    overwrite : bool
        False raises OutputExistsError if there is a file of that name, at the end too.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from supred.common.files import atomic_write
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with atomic_write(pathlib.Path(folder, "a"), overwrite=False) as file:
    ...         _ = file.write(b"all of it")
    ...     pathlib.Path(folder, "a").read_bytes()
    b'all of it'
    """
    check_output(path, overwrite=overwrite)
    path = _place_of(path).absolute()
    descriptor, publish, discard = _nameless(path.parent) or _hidden(path.parent)
    try:
        with named_if_full(path), os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            if path.exists() and hasattr(os, "fchmod"):
                os.fchmod(file.fileno(), path.stat().st_mode & 0o777)
            os.fsync(file.fileno())
            publish(file, path, overwrite)
    finally:
        discard()


@contextmanager
def named_if_full(path: str | os.PathLike[str]) -> Iterator[None]:
    """Let an error that tells of a full disk name the file that is written."""
    try:
        yield
    except OSError as error:
        if error.errno in FULL and error.filename is None:
            error.filename = os.fspath(path)
        raise


def check_opened(error: Exception, path: str | os.PathLike[str]) -> None:
    """Raise an OSError that names the file if an error says that it was not opened."""
    if isinstance(error, OSError) and error.errno in UNOPENED:
        raise OSError(error.errno, os.strerror(error.errno), os.fspath(path)) from None


def _place_of(path: str | os.PathLike[str]) -> Path:
    """Return the path of a file, or of the file that a symbolic link names."""
    path = Path(path)
    return Path(os.path.realpath(path)) if path.is_symlink() else path


Opened = tuple[int, Callable[[IO[bytes], Path, bool], None], Callable[[], None]]


def _nameless(folder: Path) -> Opened | None:
    """Open a file that has no name until it is published; None where there is no such thing."""
    if not hasattr(os, "O_TMPFILE"):
        return None
    passing = folder / f".supred-{uuid4().hex}"
    try:
        _remove_abandoned(folder)
        # Some file systems open such files but cannot name them: one that is empty tells.
        trial = _open_nameless(folder)
        try:
            _give_name(trial, passing)
            passing.unlink()
        finally:
            os.close(trial)
        descriptor = _open_nameless(folder)
    except OSError:
        return None

    def publish(file: IO[bytes], path: Path, overwrite: bool) -> None:
        if not overwrite:
            _give_name(descriptor, path)
            return
        # A new name cannot replace a file, a rename can.
        _give_name(descriptor, passing)
        try:
            os.replace(passing, path)
        except OSError:
            passing.unlink()
            raise

    return descriptor, publish, lambda: None


def _open_nameless(folder: Path) -> int:
    """Open a file without a name, locked for as long as it is open."""
    import fcntl

    descriptor = os.open(folder, os.O_TMPFILE | os.O_WRONLY, 0o666)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _remove_abandoned(folder: Path) -> None:
    """Remove files with a passing name that no process holds open: it was killed."""
    import fcntl

    for entry in os.scandir(folder):
        if PASSING.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
            with suppress(OSError), open(entry.path, "rb") as file:  # another may be quicker
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                os.unlink(entry.path)


def _give_name(descriptor: int, path: Path) -> None:
    """Name an open file that has no name."""
    root = os.open("/", os.O_RDONLY)
    try:
        # With a folder given, Python follows the link in /proc as told; without, it does not.
        source = f"/proc/self/fd/{descriptor}"
        os.link(source, path, src_dir_fd=root, follow_symlinks=True)
    except FileExistsError:
        raise OutputExistsError(_EXISTS.format(path)) from None
    finally:
        os.close(root)


def _hidden(folder: Path) -> Opened:
    """Open a file with a passing name."""
    descriptor, name = tempfile.mkstemp(dir=folder, prefix=".supred-")
    umask = os.umask(0)
    os.umask(umask)
    os.chmod(name, 0o666 & ~umask)

    def publish(file: IO[bytes], path: Path, overwrite: bool) -> None:
        file.close()  # Windows renames no open file
        try:
            if not overwrite:
                path.touch(exist_ok=False)  # claims the name: not every disk has links
            os.replace(name, path)
        except FileExistsError:
            raise OutputExistsError(_EXISTS.format(path)) from None

    def discard() -> None:
        with suppress(FileNotFoundError):
            os.unlink(name)

    return descriptor, publish, discard

"""Files that cannot be written: an error names them, and nothing is left behind."""

import errno
import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial

import numpy as np
import pytest

from supred import KernelDiscriminantAnalysis, LowDimSVC, RBFNetClassifier, RowBlocks
from supred.app.cli.main import main
from supred.app.tables.reading import read_source
from supred.base.container import read_container, write_container
from supred.common.files import FULL, OutputExistsError, atomic_write, check_output
from supred.export import ModelFileError, load_model, save_model, to_c, to_javascript
from tests.family import blobs

X, Y = blobs()
WRONG_NAMES = {
    "a\0b": "embedded null byte",
    "a" * 300: "File name too long",
    "a" * 300 + "/b": "File name too long",
    "\udc00\ud800": "surrogates not allowed",
}
posix = pytest.mark.skipif(os.name != "posix", reason="what other systems say differs")


@pytest.fixture
def full_disk(monkeypatch):
    def fail(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", fail)


@pytest.mark.parametrize("number", FULL)
def test_a_full_disk_names_the_file(tmp_path, number):
    with (
        pytest.raises(OSError, match=r"a\.supred") as raised,
        atomic_write(tmp_path / "a.supred", overwrite=False),
    ):
        raise OSError(number, os.strerror(number))
    assert raised.value.errno == number
    assert "\n" not in str(raised.value)
    assert not list(tmp_path.iterdir())


def test_an_error_of_another_file_keeps_its_name(tmp_path):
    with (
        pytest.raises(OSError, match="other") as raised,
        atomic_write(tmp_path / "a", overwrite=False),
    ):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "other")
    assert raised.value.filename == "other"


@pytest.mark.usefixtures("full_disk")
def test_checkpoints_and_rows_on_a_full_disk(tmp_path):
    for model in (LowDimSVC(max_iter=5, tol=0), RBFNetClassifier(max_iter=10)):
        with pytest.raises(OSError, match="state"):
            model.set_params(checkpoint=tmp_path / "state").fit(X, Y)
    np.save(tmp_path / "X.npy", X)
    with pytest.raises(OSError, match=r"copy\.npy"):
        RowBlocks(tmp_path / "X.npy").save(tmp_path / "copy.npy")


@pytest.mark.usefixtures("full_disk")
def test_the_command_line_on_a_full_disk(tmp_path, capfd):
    path = tmp_path / "table.csv"
    path.write_text("a,y\n" + "".join(f"{k % 7},{k % 2}\n" for k in range(40)), encoding="utf-8")
    assert main(["fit", str(path), "--target", "y", "--out", str(tmp_path / "m.supred")]) == 2
    told = capfd.readouterr().err.splitlines()
    expected = f"supred fit: error: {tmp_path / 'm.supred'}: {os.strerror(errno.ENOSPC)}."
    assert [line for line in told if "error:" in line] == [expected]


def test_the_copy_of_a_table_on_a_full_disk(tmp_path, capfd, monkeypatch):
    def fail(*arguments):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("numpy.lib.format.write_array_header_1_0", fail)
    path = tmp_path / "table.csv"
    path.write_text("a,y\n" + "".join(f"{k % 7},{k % 2}\n" for k in range(40)), encoding="utf-8")
    fit = ["fit", str(path), "--target", "y", "--stream", "--out", str(tmp_path / "m.supred")]
    assert main(fit) == 2
    assert f"rows.npy: {os.strerror(errno.ENOSPC)}." in capfd.readouterr().err


@posix
@pytest.mark.parametrize("name", WRONG_NAMES)
def test_a_name_that_no_file_has(tmp_path, name):
    with (
        pytest.raises(ValueError, match=rf"cannot be the name of a file .*{WRONG_NAMES[name]}"),
        atomic_write(tmp_path / name, overwrite=True),
    ):
        pass


@posix
@pytest.mark.parametrize("name", WRONG_NAMES)
@pytest.mark.parametrize("made", [LowDimSVC, RBFNetClassifier])
def test_a_checkpoint_of_such_a_name_is_refused_when_fit_begins(monkeypatch, name, made):
    monkeypatch.setattr("supred.base.checkpoint.Checkpoint.save", lambda *arguments: None)
    with pytest.raises(ValueError, match=r"^checkpoint='.* choose another") as raised:
        made(checkpoint=name).fit(X, Y)
    assert len(str(raised.value)) < 200


def test_an_empty_name_is_not_that_of_the_folder(tmp_path, monkeypatch):
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    message = "'' cannot be the name of a file; choose another"
    with pytest.raises(ValueError, match=message), atomic_write("", overwrite=True):
        pass
    with pytest.raises(ValueError, match=message):
        check_output("", overwrite=True)
    assert list(tmp_path.iterdir()) == [folder]


def test_a_file_that_cannot_replace_another_leaves_nothing_behind(tmp_path, monkeypatch):
    def fail(*arguments):
        raise PermissionError("no")

    monkeypatch.setattr(os, "replace", fail)
    with (
        pytest.raises(PermissionError, match="no"),
        atomic_write(tmp_path / "a", overwrite=True) as file,
    ):
        file.write(b"new")
    assert not list(tmp_path.iterdir())


class BytesPath:
    def __fspath__(self):
        return b"state"


def test_a_path_of_bytes_is_refused():
    with pytest.raises(ValueError, match=r"checkpoint=.* give the path of a file"):
        LowDimSVC(checkpoint=BytesPath()).fit(X, Y)


@posix
def test_a_pipe_behind_a_link_is_refused_before_any_work(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to(tmp_path / "pipe")
    receive, send = os.pipe()
    try:
        for path in (tmp_path / "pipe", tmp_path / "link", f"/proc/self/fd/{send}"):
            if not os.path.exists(path):  # no /proc there
                continue
            with pytest.raises(OSError, match="is not an ordinary file; name another"):
                check_output(path, overwrite=True)
    finally:
        os.close(receive)
        os.close(send)


def test_a_folder_that_appears_meanwhile_is_kept(tmp_path):
    path = tmp_path / "a"
    with pytest.raises(OSError, match="a"), atomic_write(path, overwrite=True):
        path.mkdir()
    assert os.listdir(tmp_path) == ["a"]


@pytest.mark.parametrize("path", [5, True, None, 1.5, ["a"], b"a"])
def test_what_is_no_name_is_refused_by_name(path):
    """A whole number would be the file that is open under it."""
    model = KernelDiscriminantAnalysis(kernel="linear").fit(X, Y)
    calls = [lambda: save_model(model, path), lambda: load_model(path)]
    exports = (to_c, to_javascript) if path is not None else ()
    calls += [partial(export, model, path) for export in exports]
    for call in calls:
        with pytest.raises(TypeError, match=r"^path="):
            call()


def test_the_name_of_a_file_that_is_no_model_stays_on_its_line(tmp_path):
    path = tmp_path / "a\nb\x1b[31m"
    with pytest.raises(ModelFileError, match=r"a b \[31m does not exist"):
        load_model(path)
    path.write_bytes(b"no model")
    with pytest.raises(ModelFileError, match=r"a b \[31m is not a file of supred"):
        load_model(path)


@posix
def test_a_link_that_leads_back_to_itself_is_an_error_before_any_work(tmp_path):
    link = tmp_path / "a"
    link.symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    for overwrite in (False, True):
        with pytest.raises(OutputExistsError, match="leads back to itself"):
            check_output(link, overwrite=overwrite)


@posix
def test_what_a_kill_left_is_gone_when_a_file_is_written_there_again(tmp_path):
    import fcntl

    if not hasattr(os, "O_TMPFILE"):
        pytest.skip("this system has no files without a name")
    left, used, other = f".supred-{'0' * 32}", f".supred-{'1' * 32}", ".supred-state"
    for name in (left, used, other):
        (tmp_path / name).write_bytes(b"")
    with open(tmp_path / used, "wb") as file:  # of a process that is about to rename it
        fcntl.flock(file, fcntl.LOCK_EX)
        with atomic_write(tmp_path / "state", overwrite=True) as written:
            written.write(b"new")
    assert sorted(os.listdir(tmp_path)) == [used, other, "state"]


def test_writers_of_one_file_at_once(tmp_path):
    """One of them is last, and what it writes is whole."""
    contents = [bytes([letter]) * 5000 for letter in b"abcd"]

    def write(content):
        for _ in range(50):
            with atomic_write(tmp_path / "state", overwrite=True) as file:
                file.write(content)
            assert (tmp_path / "state").read_bytes() in contents

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, contents))
    assert os.listdir(tmp_path) == ["state"]


@contextmanager
def _handles(n_more):
    """Let only so many more files be open at a time."""
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    lowest = os.dup(0)
    os.close(lowest)
    resource.setrlimit(resource.RLIMIT_NOFILE, (lowest + n_more, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


@pytest.mark.parametrize("n_more", [0, 1])
@pytest.mark.parametrize("kind", ["npy", "npz", "parquet", "supred"])
def test_a_file_that_cannot_be_opened_is_not_called_damaged(kind, n_more, tmp_path):
    """The system says that it has no handle left; readers open a file twice."""
    pandas = pytest.importorskip("pandas")
    path = tmp_path / f"t.{kind}"
    numbers = np.arange(8.0).reshape(4, 2)
    writers = {
        "npy": lambda: np.save(path, numbers),
        "npz": lambda: np.savez(path, X=numbers),
        "parquet": lambda: pandas.DataFrame(numbers, columns=["a", "b"]).to_parquet(path),
        "supred": lambda: write_container(path, "example", 1),
    }
    writers[kind]()
    readers = {"supred": lambda: read_container(path, "example")}
    read = readers.get(kind, lambda: read_source(str(path)))
    read()  # what it needs is imported
    found = None
    with _handles(n_more):
        try:
            read()
        except Exception as error:
            found = error
    assert n_more or found
    if found:
        assert (type(found), found.errno, found.filename) == (OSError, errno.EMFILE, str(path))

"""The command itself: help that does not wait, exit codes, completion, files written whole."""

import os
import shutil
import subprocess
import sys

import pytest

from supred.app.cli.completion import script
from supred.app.cli.main import main
from supred.app.cli.parser import COMMANDS
from supred.common import files as _files
from supred.common.files import OutputExistsError, atomic_write


def write(path, content, *, overwrite=False, meanwhile=None):
    """Write a file; fail half-way, or let something happen meanwhile, where asked."""
    with atomic_write(path, overwrite=overwrite) as file:
        file.write(content)
        if meanwhile is not None:
            meanwhile()


def fail():
    raise RuntimeError("half-way")


@pytest.mark.skipif(sys.platform == "win32", reason="links and permissions of POSIX")
def test_what_is_replaced_keeps_its_permissions_and_links(tmp_path):
    real, link = tmp_path / "real", tmp_path / "link"
    real.write_bytes(b"old")
    real.chmod(0o600)
    link.symlink_to(real)
    with pytest.raises(OutputExistsError, match="exists; choose another name"):
        write(link, b"new")
    write(link, b"new", overwrite=True)
    assert link.is_symlink()
    assert real.read_bytes() == b"new"
    assert real.stat().st_mode & 0o777 == 0o600
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OutputExistsError, match="is not an ordinary file"):
        write(tmp_path / "pipe", b"new", overwrite=True)
    real.unlink()
    write(link, b"again")
    assert real.read_bytes() == b"again"


def test_help_waits_for_nothing_heavy():
    code = (
        "import sys; from supred.app.cli.main import main; main(['--help']);"
        "main(['fit', '--help']);"
        "main(['completion', 'bash']);"
        "heavy = {'numpy', 'sklearn', 'scipy', 'pyarrow', 'tqdm', 'matplotlib'} & set(sys.modules);"
        "sys.exit(str(heavy) if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "compare" in done.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="a shell of POSIX")
@pytest.mark.parametrize(
    ("arguments", "closed", "message"),
    [
        ("info", ">&-", "standard output is closed"),
        ("predict MODEL TABLE", ">&-", "standard output is closed"),
        ("predict MODEL", "<&-", "standard input is closed"),
        ("predict MODEL TABLE", "2>&-", None),
    ],
)
def test_closed_streams(arguments, closed, message, model, table):
    arguments = arguments.replace("MODEL", str(model)).replace("TABLE", str(table))
    command = f"{sys.executable} -m supred.app.cli {arguments} {closed}"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    if message is None:
        assert (done.returncode, done.stderr) == (0, "")
        assert len(done.stdout.splitlines()) == 61
    else:
        assert (done.returncode, done.stdout) == (2, ""), done.stderr
        assert message in done.stderr
        assert len(done.stderr.splitlines()) == 1, done.stderr


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /dev/full")
def test_messages_that_nobody_can_read_end_no_work(table, tmp_path):
    out = tmp_path / "m"
    start = f"{sys.executable} -m supred.app.cli"
    options = f"--target species --method LowDimSVC --set max_iter=1 --out {out}"
    for arguments, code in ((f"fit {table} {options}", 0), (f"predict {out} {table}.none", 2)):
        command = f"{start} {arguments} 2>/dev/full"
        done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
        assert done.returncode == code
    assert out.exists()


def test_every_command_has_a_line_of_help(capsys):
    assert main(["--help"]) == 0
    shown = capsys.readouterr().out
    for name in COMMANDS:
        assert name in shown
        assert main([name, "--help"]) == 0
        assert "usage: supred " + name in capsys.readouterr().out


def test_versions_and_mistakes(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("supred ")
    assert main([]) == 2
    assert capsys.readouterr().out == ""
    assert main(["dance"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert len(captured.err.splitlines()) == 1


@pytest.mark.skipif(shutil.which("head") is None, reason="needs head")
def test_a_reader_that_stops_early_is_no_error(table, model):
    command = f"{sys.executable} -m supred.app.cli transform {model} {table} | head -1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert done.stdout == "rbfnetclassifier0,rbfnetclassifier1\n"
    assert done.stderr == ""


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_completion_is_a_script_that_the_shell_reads(shell, tmp_path, capsys):
    assert main(["completion", shell]) == 0
    path = tmp_path / "script"
    path.write_text(capsys.readouterr().out)
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    assert subprocess.run([shell, "-n", path], check=False).returncode == 0


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (["supred", "comp"], {"compare", "completion"}),
        (["supred", "fit", "--met"], {"--method"}),
        (["supred", "fit", "--method", "Low"], {"LowDimSVC"}),
        (["supred", "compare", "--dataset", "dig"], {"digits"}),
        (["supred", "completion", "z"], {"zsh"}),
    ],
)
def test_completion_completes(words, wanted):
    quoted = " ".join(f'"{word}"' for word in words)
    typed = f"COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; _shtab_supred"
    lines = f'{script("bash")}\n{typed}\necho "${{COMPREPLY[@]}}"'
    done = subprocess.run(["bash", "-c", lines], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) == wanted


@pytest.mark.parametrize("nameless", [True, False])
def test_files_are_whole_or_not_there(tmp_path, monkeypatch, nameless):
    if not nameless:
        monkeypatch.setattr(_files, "_nameless", lambda folder: None)
        monkeypatch.delattr(os, "link")  # as on a disk that has none
    path = tmp_path / "file"
    with pytest.raises(RuntimeError):
        write(path, b"half", meanwhile=fail)
    assert os.listdir(tmp_path) == []
    write(path, b"one")
    assert path.read_bytes() == b"one"
    with pytest.raises(OutputExistsError):
        write(path, b"two")
    with pytest.raises(RuntimeError):
        write(path, b"half", overwrite=True, meanwhile=fail)
    assert path.read_bytes() == b"one"
    write(path, b"two", overwrite=True)
    assert path.read_bytes() == b"two"
    # A file of that name that appears while this one is written is kept.
    other = tmp_path / "other"
    with pytest.raises(OutputExistsError):
        write(other, b"mine", meanwhile=lambda: other.write_bytes(b"theirs"))
    assert other.read_bytes() == b"theirs"
    assert sorted(os.listdir(tmp_path)) == ["file", "other"]
    mask = os.umask(0)
    os.umask(mask)
    assert path.stat().st_mode & 0o777 == 0o666 & ~mask

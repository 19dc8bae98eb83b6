"""What `make install` puts onto a machine, and that `make uninstall` takes it away and nothing else."""

import os
import stat
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "udev/install.sh"
FILES = {
    "usr/local/lib/udev/rules.d/70-firmware-bridge.rules",
    "usr/local/lib/systemd/system/firmware-bridge.service",
    "usr/local/lib/sysusers.d/firmware-bridge.conf",
    "usr/local/lib/tmpfiles.d/firmware-bridge.conf",
}


def script(what: str, target: Path, **settings: str) -> subprocess.CompletedProcess[str]:
    told = {"DESTDIR": str(target), "PREFIX": "/opt/firmware-bridge", "LIBDIR": "/usr/local/lib", "PIP": "false"}
    environment = {"PATH": os.environ["PATH"], "PYTHON": "/usr/bin/python3", **told, **settings}
    return subprocess.run([str(SCRIPT), what], check=False, capture_output=True, text=True, env=environment)


@pytest.mark.real
@pytest.mark.xdist_group("nspawn")
@pytest.mark.timeout(600)
def test_it_puts_these_files_there_and_the_program(installed: Path) -> None:
    there = {str(path.relative_to(installed)) for path in (installed / "usr").rglob("*") if path.is_file()}
    assert there == FILES
    assert [path.name for path in installed.iterdir() if path.name not in ("opt", "usr")] == []
    command = (installed / "opt/firmware-bridge/bin/firmware-bridge").read_text()
    assert command.startswith("#!/opt/firmware-bridge/bin/python")
    named = subprocess.run(
        ["/usr/bin/grep", "-rlI", str(installed), str(installed)], check=False, capture_output=True, text=True
    )
    assert [line for line in named.stdout.splitlines() if "/site-packages/" not in line] == []


@pytest.mark.real
def test_what_was_put_there_is_taken_away_and_nothing_else(tmp_path: Path) -> None:
    kept = [tmp_path / name for name in ("etc/firmware-bridge/table.key", "var/lib/firmware-bridge/table.journal")]
    for file in [*kept, *(tmp_path / name for name in FILES), tmp_path / "opt/firmware-bridge/bin/python"]:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    done = script("uninstall", tmp_path)
    assert done.returncode == 0, done.stderr
    assert {path for path in tmp_path.rglob("*") if path.is_file()} == set(kept)


@pytest.mark.real
def test_the_service_may_enter_what_a_careful_root_installs(tmp_path: Path) -> None:
    target = tmp_path / "target"
    before = os.umask(0o077)
    try:
        done = script("files", target)
    finally:
        os.umask(before)
    assert done.returncode == 0, done.stderr
    folders = [path for path in target.rglob("*") if path.is_dir()]
    assert len(folders) > 5
    assert all(stat.S_IMODE(folder.stat().st_mode) == 0o755 for folder in folders)


@pytest.mark.real
def test_the_readme_makes_a_key_once(tmp_path: Path) -> None:
    """Whoever follows it again, at the next version, keeps the key without which the record is lost."""
    text = (SCRIPT.parent / "README.md").read_text()
    (line,) = [line.partition("   #")[0].strip() for line in text.splitlines() if "/dev/urandom" in line]
    key = tmp_path / "table.key"
    done = [
        subprocess.run(
            ["/bin/sh", "-c", line.replace("/etc/firmware-bridge/table.key", str(key))],
            check=False,
            capture_output=True,
        )
        for _ in range(2)
    ]
    assert [one.returncode == 0 for one in done] == [True, False]
    assert b"table.key" in done[1].stderr
    assert len(bytes.fromhex(key.read_text())) == 32
    assert stat.S_IMODE(key.stat().st_mode) == 0o600


@pytest.mark.real
@pytest.mark.parametrize("what", ["install", "files", "uninstall"])
def test_a_folder_of_other_things_is_left_alone(tmp_path: Path, what: str) -> None:
    """As /usr/local, which is where things go by custom."""
    others = [tmp_path / "usr/local" / name for name in ("bin/ours", "sbin/theirs", "share/words")]
    for file in others:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    done = script(what, tmp_path, PREFIX="/usr/local")
    assert done.returncode != 0
    assert f"{tmp_path}/usr/local holds sbin, which is not this program's" in done.stderr
    assert sorted(path for path in tmp_path.rglob("*") if path.is_file()) == sorted(others)


@pytest.mark.real
@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("PREFIX", "opt/x"),
        ("PREFIX", ""),
        ("PREFIX", "/"),
        ("PREFIX", "/opt/my bridge"),
        ("LIBDIR", "/usr/%i"),
        ("PREFIX", "/a|b"),
    ],
)
def test_places_that_make_no_unit_are_refused(tmp_path: Path, setting: str, value: str) -> None:
    for what in ("files", "uninstall"):
        done = script(what, tmp_path, **{setting: value})
        assert done.returncode != 0
        assert "PREFIX=" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.real
def test_a_python_that_is_not_there_is_told(tmp_path: Path) -> None:
    done = script("install", tmp_path, PYTHON="/no/such/python")
    assert done.returncode != 0
    assert "There is no Python at /no/such/python" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.real
@pytest.mark.parametrize("home", ["/root/python/bin/python3", "/home/me/bin/python3"])
def test_a_python_that_the_service_cannot_see_is_refused(tmp_path: Path, home: str) -> None:
    """The unit hides the homes of people."""
    pretending = tmp_path / "python"
    pretending.write_text(f"#!/bin/sh\necho {home}\n")
    pretending.chmod(0o755)
    done = script("install", tmp_path / "target", PYTHON=str(pretending))
    assert done.returncode != 0
    assert f"The service cannot see {home}" in done.stderr
    assert not (tmp_path / "target").exists()

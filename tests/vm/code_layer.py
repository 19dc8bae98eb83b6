"""What is laid over the machine's disk at every start: this checkout's packages, the scenarios' own code, the agent."""

import configparser
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
HOME: Final = "opt/firmware-bridge"
BENCH: Final = "opt/bench"


def make_code_layer(work: Path) -> Path:
    """A cpio archive with everything below code/, made within `work`."""
    layer = work / "layer"
    code = layer / "code"
    _install_project(work, code)
    for folder in ("tests/vm", "udev"):
        shutil.copytree(ROOT / folder, code / BENCH / folder, ignore=shutil.ignore_patterns("__pycache__"))
    (code / BENCH / "tests/__init__.py").touch()
    units = code / "etc/systemd/system"
    (units / "multi-user.target.wants").mkdir(parents=True)
    shutil.copy(ROOT / "tests/vm/guest/bench-agent.service", units)
    (units / "multi-user.target.wants/bench-agent.service").symlink_to("../bench-agent.service")
    compile_all = [sys.executable, "-m", "compileall", "-q", "-s", str(code), "-p", "/", str(code)]
    subprocess.run(compile_all, check=True)
    names = "\n".join(str(path.relative_to(layer)) for path in sorted(layer.rglob("*")))
    archive = work / "code.cpio"
    with archive.open("wb") as out:
        cpio = shutil.which("cpio") or "cpio"
        packed = [cpio, "--quiet", "-o", "-H", "newc", "-R", "0:0"]
        subprocess.run(packed, cwd=layer, input=names.encode(), stdout=out, check=True)
    return archive


def _install_project(work: Path, code: Path) -> None:
    """The wheel of this checkout, laid out as pip would in the machine's environment."""
    wheel = [sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-deps"]
    wheel += ["--no-build-isolation", "--wheel-dir", str(work), str(_sources(work))]
    subprocess.run(wheel, check=True)
    packages = code / HOME / "lib" / f"python{sys.version_info.major}.{sys.version_info.minor}" / "site-packages"
    packages.mkdir(parents=True)
    with zipfile.ZipFile(next(work.glob("*.whl"))) as archive:
        archive.extractall(packages)
    entry_points = configparser.ConfigParser()
    entry_points.read(next(packages.glob("*.dist-info/entry_points.txt")))
    commands = code / HOME / "bin"
    commands.mkdir()
    for name, target in entry_points["console_scripts"].items():
        module, _, function = target.partition(":")
        script = commands / name
        script.write_text(f"#!/{HOME}/bin/python\nfrom {module} import {function}\n\n{function}()\n", encoding="utf-8")
        script.chmod(0o755)


def _sources(work: Path) -> Path:
    """A copy of what the wheel is made of, so that building leaves nothing in the checkout."""
    sources = work / "sources"
    sources.mkdir()
    for name in ("drivers", "firmware_bridge", "simulator"):
        shutil.copytree(ROOT / name, sources / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md"):
        shutil.copy(ROOT / name, sources)
    os.utime(sources)
    return sources

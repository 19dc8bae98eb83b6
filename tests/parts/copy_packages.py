"""Copy what a lock file names out of this Python's site-packages: `copy_packages.py LOCK TARGET`.

For another machine with the same Python and C library; packages that do not apply here are not installed and left out.
"""

import re
import shutil
import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path


def main(lock: Path, target: Path) -> None:
    for name in re.findall(r"^([A-Za-z0-9_.-]+)==", lock.read_text(encoding="utf-8"), re.MULTILINE):
        try:
            package = distribution(name)
        except PackageNotFoundError:
            continue
        for file in package.files or ():
            if ".." in file.parts or file.suffix == ".pyc":
                continue
            copy = target / file
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(str(file.locate()), copy)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))

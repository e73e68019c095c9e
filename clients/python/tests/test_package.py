"""What is shipped: its types, its style, and its wheel."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import platen

ROOT = Path(__file__).parent.parent


def run(*words: str) -> None:
    done = subprocess.run([sys.executable, "-m", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_types_hold_by_the_strictest_rules() -> None:
    run("mypy", "--no-incremental", "--cache-dir=/dev/null", "src", "tests")


def test_style_is_as_agreed() -> None:
    run("ruff", "check", "--no-cache", ".")
    run("ruff", "format", "--no-cache", "--check", ".")


def test_a_wheel_has_the_marker_of_types_and_all_modules(tmp_path: Path) -> None:
    run("hatchling", "build", "-t", "wheel", "-d", str(tmp_path))
    (wheel,) = tmp_path.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    sources = (ROOT / "src").rglob("*")
    assert {path.relative_to(ROOT / "src").as_posix() for path in sources if path.suffix in (".py", ".typed")} <= names
    assert "platen/py.typed" in names


def test_what_is_exported_is_there() -> None:
    assert len(set(platen.__all__)) == len(platen.__all__)
    for name in platen.__all__:
        assert getattr(platen, name) is not None

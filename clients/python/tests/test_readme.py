"""What the README says is so: each of its snippets is run, and is typed as strictly as the client itself."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import platen
from control import Control
from test_callbacks import BODY, SECRET, signed

ROOT = Path(__file__).parent.parent
SNIPPETS = re.findall(r"^```python\n(.*?)^```$", (ROOT / "README.md").read_text(), re.DOTALL | re.MULTILINE)


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("index", range(len(SNIPPETS)))
def test_each_snippet_runs(
    monkeypatch: pytest.MonkeyPatch, control: Control, capsys: pytest.CaptureFixture[str], index: int
) -> None:
    monkeypatch.setenv("PLATEN_URL", control.url)
    monkeypatch.setenv("PLATEN_API_KEY", control.new_key())
    code = compile(SNIPPETS[index], f"README.md, snippet {index}", "exec")
    names: dict[str, object] = {}
    exec(code, names)
    said = capsys.readouterr().out
    if "hello.pdf" in SNIPPETS[index]:
        assert Path("hello.pdf").read_bytes().startswith(b"%PDF")
    if "SELECTOR_TIMEOUT" in SNIPPETS[index]:
        assert said.startswith("SELECTOR_TIMEOUT ")
    if "letters.zip" in SNIPPETS[index]:
        assert said.endswith("100 %\n")
        assert Path("letters.zip").read_bytes().startswith(b"PK")
    if "def invoice" in SNIPPETS[index]:
        account = control.new_account("business")
        with platen.Client(control.url, api_key=account.api_key) as client:
            template = control.save_template(account, "<p>{{ number }} {{ due | date: '%d.%m.' }} {{ total }}</p>")
            pdf = names["invoice"](client, template, 66)  # type: ignore[operator]
            assert client.jobs.get(pdf.job_id).file_name == "invoice-66.pdf"
    if "def set_up" in SNIPPETS[index]:
        account = control.new_account("business")
        api_key, template_id = names["set_up"](account.email, account.password)  # type: ignore[operator]
        with platen.Client(control.url, api_key=api_key) as client:
            assert client.render(template_id=template_id, data={"customer": {"name": "Ada"}}).pages == 1
    if "cancel_on_abort=True)\n    except" in SNIPPETS[index]:
        assert said.endswith(" cancelled\n")
    if "def letter" in SNIPPETS[index]:
        with platen.Client() as client:
            assert b"".join(names["letter"](client, "Ada")).startswith(b"%PDF")  # type: ignore[operator]
    if "def receive" in SNIPPETS[index]:
        receive = names["receive"]
        assert receive(BODY, signed(), SECRET) == 204  # type: ignore[operator]
        assert receive(BODY + b" ", signed(), SECRET) == 400  # type: ignore[operator]


def test_snippets_are_typed(tmp_path: Path) -> None:
    assert len(SNIPPETS) >= 7
    for index, snippet in enumerate(SNIPPETS):
        (tmp_path / f"snippet_{index}.py").write_text(snippet)
    files = [str(path) for path in sorted(tmp_path.glob("snippet_*.py"))]
    words = ["mypy", f"--config-file={ROOT / 'pyproject.toml'}", "--no-incremental", "--cache-dir=/dev/null", *files]
    done = subprocess.run([sys.executable, "-m", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr

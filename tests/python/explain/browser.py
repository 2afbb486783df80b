"""Chromium without a window: loads a page, runs a script on it, and says what it found and what the console said."""

import json
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")

_RESULT = re.compile(r'<pre id="found">(.*?)</pre>', re.DOTALL)
_COLLECT = """<script>
(async () => {
  const found = document.createElement("pre");
  found.id = "found";
  try { found.textContent = JSON.stringify(await (async () => { %s })()); }
  catch (error) { found.textContent = JSON.stringify({ failed: String(error) }); }
  document.body.append(found);
})();
</script>"""


@dataclass(frozen=True)
class Visit:
    """What a visit to a page gave: the script's value, and the lines of the console."""

    value: dict[str, object]
    console: tuple[str, ...]


def find() -> str | None:
    """A browser that starts, None where there is none."""
    for name in NAMES:
        path = shutil.which(name)
        if path and subprocess.run([path, "--version"], capture_output=True, timeout=60).returncode == 0:
            return path
    return None


def visit(browser: str, page: Path, script: str, *, width: int = 1400, dark: bool = False) -> Visit:
    """Runs ``script``, the body of an async function, on a copy of the page. No host's name is resolved."""
    copy = page.with_name(f"visited-{page.name}")
    copy.write_text(page.read_text().replace("</body>", _COLLECT % script + "</body>"))
    done = subprocess.run(
        [
            *(browser, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--dump-dom"),
            *("--enable-logging=stderr", "--host-resolver-rules=MAP * ~NOTFOUND", f"--window-size={width},900"),
            *("--virtual-time-budget=5000", f"--user-data-dir={page.parent / 'profile'}"),
            *(["--blink-settings=preferredColorScheme=0"] if dark else []),
            copy.as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=120,
    )
    match = _RESULT.search(done.stdout)
    assert match, f"the browser gave no page: {done.stderr[-2000:]}"
    value = json.loads(match.group(1).replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))
    return Visit(value, tuple(line for line in done.stderr.splitlines() if ":CONSOLE" in line))

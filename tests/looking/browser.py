"""A page opened in Chromium without a display or a network: what a script put at its end has found there."""

import html
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
OPTIONS = (
    "--headless",
    "--no-sandbox",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--allow-file-access-from-files",
    "--window-size=1400,900",
    "--virtual-time-budget=20000",
)
PROBE = """
<pre id="probe"></pre>
<script>
const problems = [];
addEventListener("error", event => problems.push(String(event.message)));
addEventListener("unhandledrejection", event => problems.push(String(event.reason)));
document.addEventListener("securitypolicyviolation", event => problems.push("blocked: " + event.blockedURI));
console.error = (...parts) => problems.push(parts.join(" "));
console.warn = console.error;
const asked = setInterval(() => {
  if (!document.body.dataset.ready) return;
  clearInterval(asked);
  let found = null;
  try { found = (() => { %s })(); } catch (error) { problems.push(String(error)); }
  const requests = performance.getEntriesByType("resource").map(entry => entry.name);
  const ready = document.body.dataset.ready;
  document.getElementById("probe").textContent = JSON.stringify({ready, problems, requests, found});
}, 50);
</script>
"""

needs_browser = pytest.mark.skipif(
    CHROMIUM is None, reason="there is no Chromium on the PATH, in which the page would be opened"
)


def opened(page: Path, script: str) -> dict:
    """What a script returns in a page, with `problems` and `requests` of the page."""
    text = page.read_text(encoding="utf-8")
    probed = page.with_name(f"probed_{page.name}")
    probed.write_text(text.replace("<body>", "<body>" + PROBE % script, 1), encoding="utf-8")
    profile = page.parent / "profile"
    command = [CHROMIUM, *OPTIONS, f"--user-data-dir={profile}", "--dump-dom", probed.as_uri()]
    dom = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout
    found = re.search(r'<pre id="probe">(.*?)</pre>', dom, re.S)
    assert found and found[1], "the page did not come to its end"
    return json.loads(html.unescape(found[1]))

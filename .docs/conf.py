"""The documentation site:  sphinx-build -W -c .docs . build/docs

Its pages are the Markdown files of the checkout, each where it is. `<!-- generated: NAME -->` in one of them is
replaced by what `generated.py` makes of the code, the schemas, the rules and the results of benchmarks.
"""

import json
import re
import sys
from importlib.metadata import version as version_of
from pathlib import Path

from sphinx.builders.html import StandaloneHTMLBuilder

sys.path.insert(0, str(Path(__file__).parent))
import generated  # noqa: E402 (beside this file)

project = "warp_artic"
version = release = version_of("warp-artic")
extensions = ["myst_parser", "sphinx.ext.autodoc"]
root_doc = "README"
include_patterns = [
    "*.md",
    ".docs/*.md",
    ".github/*.md",
    "extensions/**.md",
    "samples/**.md",
    "tests/*.md",
    "tests/benchmarks/*.md",
    "usd_schemas/*.md",
    "warp_artic/**.md",
]
exclude_patterns = ["build", ".venv", ".git", "**/__pycache__"]
myst_heading_anchors = 3
default_role = "code"
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
python_use_unqualified_type_names = True
html_theme = "furo"
html_title = f"warp_artic {release}"
html_copy_source = False
html_show_copyright = False
highlight_language = "text"

GENERATED = re.compile(r"<!-- generated: (\w+) -->")


class Site(StandaloneHTMLBuilder):
    """HTML with addresses that do not tell where in the checkout a page is: no dot folders, README as the index."""

    def get_target_uri(self, docname, typ=None):
        """The address of a page."""
        return super().get_target_uri(generated.address(docname), typ)

    def get_output_path(self, page_name, /):
        """The file of a page."""
        return super().get_output_path(generated.address(page_name))

    def dump_search_index(self):
        """Write the index of words, by addresses too."""
        super().dump_search_index()
        path = Path(self.outdir) / self.searchindex_filename
        text = path.read_text(encoding="utf-8")
        head, content, tail = re.fullmatch(r"(Search\.setIndex\()(.*)(\))", text, re.S).groups()
        index = json.loads(content)
        index["docnames"] = [generated.address(name) for name in index["docnames"]]
        path.write_text(f"{head}{json.dumps(index, separators=(',', ':'))}{tail}", encoding="utf-8")


def insert_generated(app, docname, source):
    """Replace the marks of a page."""
    source[0] = GENERATED.sub(lambda mark: getattr(generated, mark[1])(), source[0])


def setup(app):
    """Take part in the build."""
    app.add_builder(Site, override=True)
    app.connect("source-read", insert_generated)
    app.connect("autodoc-process-docstring", generated.as_rst)

"""The site: `make docs`."""

import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "docs" / "_extensions"))

import supred  # noqa: E402

project = "supred"
author = "the supred developers"
copyright = "the supred developers, BSD-3-Clause"
release = version = supred.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "mathml",
]
html_math_renderer = "mathml"
templates_path = ["_templates"]
# the lists of times would fetch scripts from a network
exclude_patterns = ["_build", "sg_execution_times.rst", "**/sg_execution_times.rst"]
nitpicky = True
toc_object_entries_show_parents = "hide"
default_role = "code"

# Markdown: the same files are read on the host of the repository.
myst_enable_extensions = ["colon_fence", "dollarmath", "deflist"]
myst_heading_anchors = 4
suppress_warnings = ["config.cache"]

autodoc_typehints = "none"
autosummary_generate = True
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
numpydoc_validation_checks: set[str] = set()
# Names of other projects, which have no inventory here: nothing is fetched.
nitpick_ignore_regex = [
    (r"py:.*", r"(sklearn|numpy|np|scipy|pandas|dask|matplotlib|onnx)\b.*"),
]

sphinx_gallery_conf = {
    "examples_dirs": ["../examples"],
    "gallery_dirs": ["gallery"],
    "filename_pattern": r"plot_",
    "ignore_pattern": r"^(?!plot_)",  # commands with options of their own
    "subsection_order": [
        f"../examples/{name}" for name in ("maps", "classifiers", "labels", "large_data", "devices")
    ],
    "within_subsection_order": "FileNameSortKey",
    "copyfile_regex": r".*\.(png|c)",
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "remove_config_comments": True,
    "min_reported_time": 1,
    "matplotlib_animations": False,
    "abort_on_example_error": True,
    "reset_modules": ("matplotlib", "seaborn"),
    "image_scrapers": ("matplotlib",),
    "capture_repr": (),
    "doc_module": ("supred",),
    "backreferences_dir": "api/generated/backreferences",
    "inspect_global_variables": True,
    "plot_gallery": "True",
}

html_theme = "pydata_sphinx_theme"
html_title = "supred"
html_static_path = ["_static", "images"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "navbar_align": "left",
    "header_links_before_dropdown": 7,
    "show_prev_next": True,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
    "back_to_top_button": False,
}
html_sidebars = {"index": [], "get-started": [], "changelog": [], "gallery/index": []}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True


# of every estimator, for those who write one
INTERNAL = {"check_finite", "from_state", "to_state"}


def skip_member(
    app: Any, what: str, name: str, member: Any, skip: bool, options: Any
) -> bool | None:
    """Leave out what scikit-learn documents, members that are not defined in supred."""
    if name in INTERNAL:
        return True
    module = getattr(member, "__module__", None) or getattr(
        getattr(member, "fget", None), "__module__", None
    )
    if what == "class" and module is not None and not module.startswith("supred"):
        return True
    return None


def setup(app: Any) -> None:
    """Connect what is above."""
    app.connect("autodoc-skip-member", skip_member)

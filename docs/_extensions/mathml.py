"""Formulas as MathML, which browsers draw themselves: no script, no network, no LaTeX."""

from typing import Any

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml


def visit_math(translator: Any, node: nodes.math) -> None:
    """Write a formula in a line of text."""
    translator.body.append(tex2mathml(node.astext()))
    raise nodes.SkipNode


def visit_math_block(translator: Any, node: nodes.math_block) -> None:
    """Write a formula of its own."""
    formula = tex2mathml(node.astext(), as_block=True)
    translator.body.append(f'<div class="math-block">{formula}</div>\n')
    raise nodes.SkipNode


def setup(app: Any) -> dict[str, bool]:
    """Register the renderer."""
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_math_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}

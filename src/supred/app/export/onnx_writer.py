"""A fitted model as an ONNX model of standard operators."""

import os
from typing import Any

import numpy as np

from supred._version import __version__
from supred.app.export import steps
from supred.app.export.conversion import finite_form_of, not_fitting
from supred.app.export.finite_form import ExportError, FiniteForm, Inputs
from supred.app.export.precision import largest_exponent, precise
from supred.common.files import atomic_write
from supred.numerics.kernels import MOST_IN_DOUBLE

# Versions that ONNX Runtime 1.14 (2023) and later read.
OPSET, ML_OPSET, IR_VERSION = 18, 3, 8


def to_onnx(
    model: Any,
    path: str | os.PathLike[str] | None = None,
    *,
    arithmetic: str = "auto",
    overwrite: bool = False,
) -> Any:
    """Return a fitted model as an ONNX model, and write it to a file if one is named.

    The input ``rows`` has the shape (n, n_features) and single precision; a table with text
    columns has the inputs ``numbers`` and ``texts`` in its place. The outputs are ``label``,
    ``scores`` (as `decision_function`, one column for two classes), ``probabilities`` if the
    model has them, and ``latent``. The number of rows is free.

    Parameters
    ----------
    model : estimator, Pipeline, search or TableModel
        A fitted estimator of supred, alone, at the end of a Pipeline with StandardScaler,
        MinMaxScaler, MaxAbsScaler, RobustScaler, SimpleImputer or PCA, in a search, or as
        `load_model` returned it.
    path : path, optional
    arithmetic : {"auto", "single", "double"}, default="auto"
        Precision of the sums; inputs, outputs and constants are single. "auto" takes double
        where single precision would change the scores.
    overwrite : bool, default=False
        Whether to replace a file of that name.

    Returns
    -------
    onnx.ModelProto

    Raises
    ------
    ExportError
        If the model cannot be exported; the message says what to use instead.

    See Also
    --------
    to_c : One C header.
    to_javascript : One JavaScript module.
    save_model : For Python.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from supred import LowDimSVC
    >>> from supred.export import to_onnx
    >>> X, y = load_iris(return_X_y=True)
    >>> model = to_onnx(LowDimSVC(n_centers=9, random_state=0).fit(X, y))
    >>> [output.name for output in model.graph.output]
    ['label', 'scores', 'latent']
    """
    form = finite_form_of(model)
    form.check_texts("ONNX")
    onnx = _import_onnx()
    found = precise(form, arithmetic)
    form = found.form
    graph = _Graph(found.double_sums, np.float64 if found.double_numbers else np.float32)
    rows = graph.cast(_rows(graph, form.inputs))
    latent = graph.chain(form.to_latent, rows)
    scores = graph.chain(form.to_scores, latent)
    outputs = [_labels(graph, form, scores)]
    if form.temperature is not None:
        outputs.append(_probabilities(graph, form, scores))
    outputs.insert(1, graph.output("scores", scores, form.n_scores))
    outputs.append(graph.output("latent", latent, form.n_latent))
    used = [("", OPSET), ("ai.onnx.ml", ML_OPSET)][: 2 if form.inputs.texts else 1]
    result = onnx.helper.make_model(
        onnx.helper.make_graph(
            graph.nodes, form.method, graph.inputs, outputs, initializer=graph.initializers
        ),
        opset_imports=[onnx.helper.make_opsetid(domain, version) for domain, version in used],
        ir_version=IR_VERSION,
        producer_name="supred",
        producer_version=__version__,
    )
    onnx.helper.set_model_props(
        result,
        {
            "classes": "\n".join(str(label) for label in form.classes.tolist()),
            "numbers": "\n".join(form.inputs.numbers),
            "texts": "\n".join(form.inputs.texts),
        },
    )
    try:
        onnx.checker.check_model(result, full_check=True)
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError) as error:
        raise ExportError(not_fitting(model, error)) from error
    if path is not None:
        with atomic_write(path, overwrite=overwrite) as file:
            file.write(result.SerializeToString(deterministic=True))
    return result


class _Graph:
    """Nodes and constants of a graph in the making; values are known by their names."""

    def __init__(self, double: bool, kind: type[np.floating]) -> None:
        self.onnx = _import_onnx()
        self.double, self.kind = double, kind
        self.nodes: list[Any] = []
        self.initializers: list[Any] = []
        self.inputs: list[Any] = []

    def add(self, operator: str, *inputs: str, name: str = "", **attributes: Any) -> str:
        """Add a node and return the name of its output."""
        name = name or f"v{len(self.nodes)}"
        self.nodes.append(self.onnx.helper.make_node(operator, inputs, [name], **attributes))
        return name

    def constant(self, array: Any, dtype: Any = None) -> str:
        """Add a constant in the precision of the numbers (or of `dtype`), widened for the sums."""
        name = f"c{len(self.initializers)}"
        values = np.ascontiguousarray(array, dtype=dtype or self.kind)
        self.initializers.append(self.onnx.numpy_helper.from_array(values, name))
        return self.cast(name) if values.dtype == np.float32 else name

    def cast(self, name: str) -> str:
        """Return a value in the precision of the sums."""
        kind = self.onnx.TensorProto.DOUBLE
        return self.add("Cast", name, to=kind) if self.double else name

    def input(self, name: str, kind: int, n_columns: int) -> str:
        """Declare an input of any number of rows."""
        self.inputs.append(self.onnx.helper.make_tensor_value_info(name, kind, ["n", n_columns]))
        return name

    def output(self, name: str, value: str, n_columns: int) -> Any:
        """Declare a value as an output in single precision."""
        kind = self.onnx.TensorProto.FLOAT
        if self.double:
            self.add("Cast", value, name=name, to=kind)
        else:
            self.rename(value, name)
        return self.onnx.helper.make_tensor_value_info(name, kind, ["n", n_columns])

    def rename(self, value: str, name: str) -> None:
        """Give a value another name: each node less is a microsecond less for a single row."""
        for node in self.nodes:
            for names in (node.input, node.output):
                for k, found in enumerate(names):
                    if found == value:
                        names[k] = name

    def chain(self, parts: tuple[steps.Step, ...], value: str) -> str:
        """Add the nodes of some steps."""
        for step in parts:
            value = self.step(step, value)
        return value

    def step(self, step: steps.Step, value: str) -> str:
        """Add the nodes of one step."""
        match step:
            case steps.Fill():
                return self.add(
                    "Where", self.add("IsNaN", value), self.constant(step.values), value
                )
            case steps.Scale():
                shifted = value
                if step.shift.any():
                    shifted = self.add("Sub", value, self.constant(step.shift))
                if step.only_shifts:
                    return shifted
                return self.add("Mul", shifted, self.constant(step.scale))
            case steps.Clip():
                return self.add("Clip", value, self.constant(step.low), self.constant(step.high))
            case steps.Select():
                return self.add("Gather", value, self.constant(step.columns, np.int64), axis=1)
            case steps.Affine():
                return self.add(
                    "Gemm", value, self.constant(step.matrix), self.constant(step.offset)
                )
            case steps.SquaredDistances():
                return self.squares(step.centers, value)
            case steps.Gaussians():
                return self.gaussians(step, value)
            case steps.Polynomials():
                # One matrix: a runtime may keep a factor of its own in single precision.
                scaled = self.add("MatMul", value, self.constant(step.gamma * step.centers.T))
                base = self.add("Add", scaled, self.constant(step.coef0))
                return self.add("Pow", base, self.constant(step.degree))
            case steps.UnitLength():
                length = self.add("ReduceL2", value, self.constant([1], np.int64))
                positive = self.add("Greater", length, self.constant(0.0))
                divisor = self.add("Where", positive, length, self.constant(1.0))
                return self.add("Div", value, divisor)
            case steps.Absolute():
                return self.add("Abs", value)
            case steps.Votes():
                return self.votes(step, value)

    def gaussians(self, step: steps.Gaussians, value: str) -> str:
        """Add ``exp(-gamma (||x||^2 - 2 x.c + ||c||^2))``; a shift comes before it."""
        if self.double:
            exact = largest_exponent(step) > MOST_IN_DOUBLE
            squares = (self.exact_squares if exact else self.squares)(step.centers, value)
            return self.add("Exp", self.add("Mul", squares, self.constant(-step.gammas)))
        row_norms = self.add("ReduceSumSquare", value, self.constant([1], np.int64))
        # One product for all three terms: a row and its squared norm, times a matrix.
        matrix = np.vstack([2 * step.gammas * step.centers.T, -step.gammas])
        offset = -step.gammas * np.sum(step.centers**2, axis=1)
        joined = self.add("Concat", value, row_norms, axis=1)
        exponents = self.add("Gemm", joined, self.constant(matrix), self.constant(offset))
        return self.add("Exp", exponents)

    def squares(self, centers: np.ndarray, value: str) -> str:
        """Add ``max(||x||^2 - 2 x.c + ||c||^2, 0)``."""
        axes, name = self.constant([1], np.int64), self.constant(centers)
        row_norms = self.add("ReduceSumSquare", value, axes)
        # Computed once, when the model is loaded, in the precision of the sums.
        center_norms = self.add("ReduceSumSquare", name, axes, keepdims=0)
        products = self.add("Gemm", value, name, center_norms, alpha=-2.0, transB=1)
        return self.add("Max", self.add("Add", products, row_norms), self.constant(0.0))

    def exact_squares(self, centers: np.ndarray, value: str) -> str:
        """Add ``||x - c||^2`` from differences, which takes memory for all of them."""
        rows = self.add("Unsqueeze", value, self.constant([1], np.int64))
        differences = self.add("Sub", rows, self.constant(centers))
        return self.add("ReduceSumSquare", differences, self.constant([2], np.int64), keepdims=0)

    def votes(self, step: steps.Votes, value: str) -> str:
        """Add the votes of pairs of classes and the term that breaks ties."""
        first = np.zeros((len(step.pairs), step.n_classes))
        second = np.zeros_like(first)
        for k, (i, j) in enumerate(step.pairs):
            first[k, i] = second[k, j] = 1
        won = self.add("Greater", value, self.constant(0.0))
        lost = self.add("Not", won)
        kind = self.onnx.TensorProto.DOUBLE if self.double else self.onnx.TensorProto.FLOAT
        votes = self.add(
            "Add",
            self.add("MatMul", self.add("Cast", won, to=kind), self.constant(first)),
            self.add("MatMul", self.add("Cast", lost, to=kind), self.constant(second)),
        )
        summed = self.add("MatMul", value, self.constant(first - second))
        size = self.add("Add", self.add("Abs", summed), self.constant(1.0))
        ties = self.add("Div", summed, self.add("Mul", size, self.constant(3.0)))
        return self.add("Add", votes, ties)


def _rows(graph: _Graph, inputs: Inputs) -> str:
    """Declare the inputs, and return numbers and encoded texts side by side."""
    kinds = graph.onnx.TensorProto
    if not inputs.texts:
        return graph.input("rows", kinds.FLOAT, len(inputs.numbers))
    parts = []
    if inputs.numbers:
        parts.append(graph.input("numbers", kinds.FLOAT, len(inputs.numbers)))
    texts = graph.input("texts", kinds.STRING, len(inputs.texts))
    for k, values in enumerate(inputs.categories):
        column = graph.add("Gather", texts, graph.constant([k], np.int64), axis=1)
        # Three dimensions: row, column, value; an unknown value gives zeros.
        encoded = graph.add(
            "OneHotEncoder", column, domain="ai.onnx.ml", cats_strings=list(values), zeros=1
        )
        parts.append(graph.add("Flatten", encoded, axis=1))
    return graph.add("Concat", *parts, axis=1)


def _labels(graph: _Graph, form: FiniteForm, scores: str) -> Any:
    """Add the labels and declare them as an output."""
    kinds = graph.onnx.TensorProto
    if form.decision == "tasks":
        positive = graph.add("Greater", scores, graph.constant(0.0))
        one, other = graph.constant(1, np.int64), graph.constant(-1, np.int64)
        graph.add("Where", positive, one, other, name="label")
        return graph.onnx.helper.make_tensor_value_info("label", kinds.INT64, ["n", form.n_scores])
    if form.decision == "sign":
        positive = graph.add("Greater", scores, graph.constant(0.0))
        first = graph.add("Squeeze", positive, graph.constant([1], np.int64))
        index = graph.add("Cast", first, to=kinds.INT64)
    else:
        index = graph.add("ArgMax", scores, axis=1, keepdims=0)
    classes = form.classes
    if classes.dtype.kind in "iu" and np.array_equal(classes, np.arange(len(classes))):
        graph.rename(index, "label")
        return graph.onnx.helper.make_tensor_value_info("label", kinds.INT64, ["n"])
    kind = {"i": np.int64, "u": np.int64, "b": np.bool_, "f": np.float64}.get(classes.dtype.kind)
    if classes.dtype.kind == "u" and classes.max() > np.iinfo(np.int64).max:
        kind = np.uint64
    name = f"c{len(graph.initializers)}"
    if kind is None:
        texts = np.array([str(label) for label in classes.tolist()], dtype=object)
        tensor = graph.onnx.numpy_helper.from_array(texts, name)
    else:
        tensor = graph.onnx.numpy_helper.from_array(classes.astype(kind), name)
    graph.initializers.append(tensor)
    graph.add("Gather", name, index, name="label")
    return graph.onnx.helper.make_tensor_value_info("label", tensor.data_type, ["n"])


def _probabilities(graph: _Graph, form: FiniteForm, scores: str) -> Any:
    """Add the softmax of the scores and declare it as an output."""
    if form.decision == "sign":
        scores = graph.add("Concat", graph.add("Sub", scores, scores), scores, axis=1)
    if form.temperature != 1.0:
        scores = graph.add("Div", scores, graph.constant(form.temperature))
    return graph.output("probabilities", graph.add("Softmax", scores, axis=1), len(form.classes))


def _import_onnx() -> Any:
    try:
        import onnx
        import onnx.checker
        import onnx.helper
        import onnx.numpy_helper
    except ImportError:
        raise ExportError("to_onnx needs onnx; install 'supred[onnx]'.") from None
    return onnx

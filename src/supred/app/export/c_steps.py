"""The steps of a finite form as lines of C."""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from supred.app.export import steps
from supred.app.export.finite_form import Inputs
from supred.app.export.quantise import is_quantised, to_bytes

Kernel = steps.Gaussians | steps.Polynomials | steps.SquaredDistances
# Centres are taken in blocks of this many, so that compilers can use vector instructions.
BLOCK = 32
VECTOR = 4
PER_LINE = 12
# Bytes of a number of each type.
SIZES = {"float": 4, "double": 8, "int": 4, "signed char": 1}


class Body:
    """The function `predict` in the making, and the constants that it reads.

    Parameters
    ----------
    name : str
        Prefix of the constants.
    real, kept : {"float", "double"}
        Types of the sums and of the constants.
    quantise : bool
        Keep large matrices in bytes.

    Attributes
    ----------
    lines, constants : lists of str
    constant_bytes, stack_bytes : int
    """

    def __init__(self, name: str, real: str, kept: str, quantise: bool) -> None:
        self.name, self.real, self.kept, self.quantise = name, real, kept, quantise
        self.suffix = "f" if real == "float" else ""
        self.lines: list[str] = []
        self.constants: list[str] = []
        self.constant_bytes = 0
        self.stack_bytes = 0
        self.value = "row"  # the array that holds what was computed last
        self.n = 0
        # Steps that change one number at a time are done where the number is read.
        self.pending: list[steps.Fill | steps.Scale | steps.Clip] = []

    def inputs(self, inputs: Inputs) -> None:
        """Begin with the row: its numbers, and its texts as columns of 0 and 1."""
        self.n = len(inputs.numbers)
        if self.n:  # a Gaussian of an infinite number is zero, and the scores would hide it
            self.lines += [
                f"for (int i = 0; i < {self.n}; i++) {{",
                "    if (isinf(row[i])) return -1;",
                "}",
            ]
        if not inputs.texts:
            return
        target = self.array(inputs.n_columns)
        self.lines.append(f"for (int i = 0; i < {self.n}; i++) {target}[i] = row[i];")
        place = self.n
        for k, values in enumerate(inputs.categories):
            for value in values:
                same = f"{self.name}_same(texts[{k}], {quoted(value)})"
                self.lines.append(f"{target}[{place}] = ({self.real}){same};")
                place += 1
        self.value, self.n = target, place

    def chain(self, parts: tuple[steps.Step, ...]) -> None:
        """Add some steps; a kernel and the linear map after it become one loop."""
        k = 0
        while k < len(parts):
            step, after = parts[k], parts[k + 1] if k + 1 < len(parts) else None
            if isinstance(step, Kernel) and isinstance(after, steps.Affine):
                self.kernel_sum(step, after)
                k += 1
            else:
                self.step(step)
            k += 1

    def step(self, step: steps.Step) -> None:
        """Add one step."""
        match step:
            case steps.Fill() | steps.Scale() | steps.Clip():
                self.pending.append(step)
            case steps.Select():
                self.select(step)
            case steps.Affine():
                self.affine(step)
            case steps.UnitLength():
                self.unit_length()
            case steps.Absolute():
                self.own()
                absolute = f"fabs{self.suffix}({self.value}[i])"
                self.lines.append(
                    f"for (int i = 0; i < {self.n}; i++) {self.value}[i] = {absolute};"
                )
            case steps.Votes():
                self.votes(step)
            case steps.SquaredDistances():
                self.distances(step)
            case steps.Gaussians() | steps.Polynomials():
                identity = np.eye(len(step.centers))
                self.kernel_sum(step, steps.Affine(identity, np.zeros(len(identity))))

    def result(self, what: str, n: int) -> None:
        """Hand the value out if the caller wants it."""
        self.own()
        if what == "scores":
            self.lines.append(f"const {self.real} *s = {self.value};")
        self.lines += [
            f"if ({what}) {{",
            f"    for (int i = 0; i < {n}; i++) {what}[i] = (float){self.value}[i];",
            "}",
        ]

    def array(self, n: int) -> str:
        """Declare an array on the stack and return its name."""
        name = f"v{self.stack_bytes}"
        self.lines.append(f"{self.real} {name}[{n}];")
        self.stack_bytes += n * SIZES[self.real]
        return name

    def constant(self, values: np.ndarray) -> str:
        """Declare a constant and return its name."""
        name = f"{self.name}_c{len(self.constants)}"
        flat = np.ravel(values)
        if values.dtype.kind == "f":
            kind, texts = self.kept, [self.literal(value) for value in flat]
        else:
            kind = "signed char" if values.dtype == np.int8 else "int"
            texts = [str(value) for value in flat]
        rows = [", ".join(texts[k : k + PER_LINE]) for k in range(0, len(texts), PER_LINE)]
        self.constants.append(
            f"static const {kind} {name}[{len(flat)}] = {{\n    " + ",\n    ".join(rows) + "};"
        )
        self.constant_bytes += SIZES[kind] * len(flat)
        return name

    def literal(self, value: float) -> str:
        """Return a number as it is written among the constants."""
        return str(np.float64(value)) if self.kept == "double" else f"{np.float32(value)}f"

    def read(self, index: str, target: str) -> list[str]:
        """Return lines that read a number into `target` and do what is pending to it."""
        lines = [f"{self.real} {target} = {self.value}[{index}];"]
        for step in self.pending:
            if isinstance(step, steps.Fill):
                values = self.constant(step.values)
                lines.append(f"if ({target} != {target}) {target} = {values}[{index}];")
            elif isinstance(step, steps.Clip):
                low, high = self.literal(step.low), self.literal(step.high)
                lines.append(f"if ({target} < {low}) {target} = {low};")
                lines.append(f"if ({target} > {high}) {target} = {high};")
            else:
                if step.shift.any():
                    lines.append(f"{target} -= {self.constant(step.shift)}[{index}];")
                if not step.only_shifts:
                    lines.append(f"{target} *= {self.constant(step.scale)}[{index}];")
        self.pending = []
        return lines

    def own(self) -> None:
        """Put the value into an array of its own, with nothing pending."""
        if self.value != "row" and not self.pending:
            return
        lines = self.read("i", "t")
        target = self.array(self.n) if self.value == "row" else self.value
        self.loop("i", self.n, [*lines, f"{target}[i] = t;"])
        self.value = target

    def loop(self, index: str, n: int, lines: list[str]) -> None:
        """Add a loop over lines."""
        self.lines.append(f"for (int {index} = 0; {index} < {n}; {index}++) {{")
        self.lines += [f"    {line}" for line in lines]
        self.lines.append("}")

    def select(self, step: steps.Select) -> None:
        """Add the choice of columns."""
        if self.pending:
            self.own()
        # A number that is not finite must not be hidden: no score would tell.
        missing = f"if (!({self.value}[i] - {self.value}[i] == 0)) return -1;"
        self.loop("i", self.n, [missing])
        columns = self.constant(np.asarray(step.columns, dtype=np.int32))
        target = self.array(len(step.columns))
        self.loop("i", len(step.columns), [f"{target}[i] = {self.value}[{columns}[i]];"])
        self.value, self.n = target, len(step.columns)

    def affine(self, step: steps.Affine) -> None:
        """Add ``x @ matrix + offset``; the inner loop goes along the outputs."""
        n_in, n_out = step.matrix.shape
        with self.product(step) as (matrix, target):
            lines = self.read("i", "t")
            lines.append("if (t == 0) continue;")  # rows often hold many zeros
            lines += _inner(n_out, f"{target}[j] += t * {matrix}[i * {n_out} + j];")
            self.loop("i", n_in, lines)

    @contextmanager
    def product(self, step: steps.Affine) -> Iterator[tuple[str, str]]:
        """Declare the matrix and an array for what the block adds up, which then is the value."""
        kept, scales = self.in_bytes(step.matrix)
        matrix, offset = self.constant(kept), self.constant(step.offset)
        n_out = step.matrix.shape[1]
        target = self.array(n_out)
        start = "0" if scales else f"{offset}[j]"
        self.loop("j", n_out, [f"{target}[j] = {start};"])
        yield matrix, target
        if scales:
            self.loop("j", n_out, [f"{target}[j] = {target}[j] * {scales}[j] + {offset}[j];"])
        self.value, self.n = target, n_out

    def in_bytes(self, matrix: np.ndarray) -> tuple[np.ndarray, str]:
        """Return a matrix as it is kept, and the name of its scales if that is in bytes."""
        if not (self.quantise and is_quantised(matrix)):
            return matrix, ""
        kept = to_bytes(matrix)
        return kept.values, self.constant(kept.scales)

    def kernel_sum(self, step: Kernel, after: steps.Affine) -> None:
        """Add a kernel and the linear map of its values, which are never all there at once."""
        self.own()
        centers, center_scales = self.in_bytes(step.centers)
        gammas = self.constant(step.gammas) if isinstance(step, steps.Gaussians) else ""
        n_out = after.matrix.shape[1]
        whole = len(centers) - len(centers) % BLOCK
        parts = [(0, whole, BLOCK), (whole, len(centers), len(centers) - whole)]
        parts = [part for part in parts if part[0] < part[1]]
        with self.product(after) as (matrix, target):
            # A sum per block, and then their sum, lose fewer digits than one long sum.
            sums = _inner(n_out, f"q[j] += phi * {matrix}[m * {n_out} + j];")
            for first, last, size in parts:
                # One block after another, in each the centres side by side.
                blocks = centers[first:last].reshape(-1, size, self.n).transpose(0, 2, 1)
                center = f"{self.constant(blocks)}[(b * {self.n} + i) * {size} + k]"
                if center_scales:
                    center = f"{center_scales}[i] * {center}"
                inner, value = self.kernel(step, f"{self.value}[i]", center, gammas)
                lines = [
                    f"{self.real} p[{size}] = {{0}}, q[{n_out}] = {{0}};",
                    f"for (int i = 0; i < {self.n}; i++) {{",
                    *(f"    {line}" for line in _inner(size, inner, "k")),
                    "}",
                    f"for (int k = 0; k < {size}; k++) {{",
                    f"    const int m = {first} + b * {size} + k;",
                    *(f"    {line}" for line in [*value, *sums]),
                    "}",
                    *_inner(n_out, f"{target}[j] += q[j];"),
                ]
                self.loop("b", (last - first) // size, lines)
        self.stack_bytes += (max(part[2] for part in parts) + n_out) * SIZES[self.real]

    def distances(self, step: steps.SquaredDistances) -> None:
        """Add the squared distances to centres."""
        self.own()
        centers, scales = self.in_bytes(step.centers)
        center = f"{self.constant(centers)}[m * {self.n} + i]"
        if scales:
            center = f"{scales}[i] * {center}"
        target = self.array(len(step.centers))
        lines = [f"const {self.real} d = {self.value}[i] - {center};", f"{target}[m] += d * d;"]
        lines = ["    " + line for line in lines]
        loop = f"for (int i = 0; i < {self.n}; i++) {{"
        self.loop("m", len(step.centers), [f"{target}[m] = 0;", loop, *lines, "}"])
        self.value, self.n = target, len(step.centers)

    def kernel(self, step: Kernel, number: str, center: str, gammas: str) -> tuple[str, list[str]]:
        """Return what adds to p[k] along a row, and what then makes the value phi of it."""
        inner = f"p[k] += ({number} - {center}) * ({number} - {center});"
        if isinstance(step, steps.SquaredDistances):
            return inner, [f"{self.real} phi = p[k];"]
        if isinstance(step, steps.Gaussians):
            return inner, [f"{self.real} phi = exp{self.suffix}(-{gammas}[m] * p[k]);"]
        gamma, coef0 = self.literal(step.gamma), self.literal(step.coef0)
        return f"p[k] += {number} * {center};", [
            f"{self.real} base = {gamma} * p[k] + {coef0};",
            f"{self.real} phi = base;",
            f"for (int e = 1; e < {int(step.degree)}; e++) phi *= base;",
        ]

    def unit_length(self) -> None:
        """Add the division by the length."""
        self.own()
        length = f"length{len(self.lines)}"
        self.lines.append(f"{self.real} {length} = 0;")
        self.loop("i", self.n, [f"{length} += {self.value}[i] * {self.value}[i];"])
        root = f"sqrt{self.suffix}({length})"
        self.lines.append(f"{length} = {length} > 0 ? {root} : 1;")
        target = self.array(self.n)
        self.loop("i", self.n, [f"{target}[i] = {self.value}[i] / {length};"])
        self.value = target

    def votes(self, step: steps.Votes) -> None:
        """Add the votes of pairs of classes and the term that breaks ties."""
        self.own()
        n, values = step.n_classes, self.value
        votes, summed = self.array(n), self.array(n)
        self.loop("j", n, [f"{votes}[j] = 0;", f"{summed}[j] = 0;"])
        pair = f"pair{len(self.lines)}"
        self.lines.append(f"int {pair} = 0;")
        self.loop(
            "i",
            n,
            [
                f"for (int j = i + 1; j < {n}; j++, {pair}++) {{",
                f"    {votes}[{values}[{pair}] > 0 ? i : j] += 1;",
                f"    {summed}[i] += {values}[{pair}];",
                f"    {summed}[j] -= {values}[{pair}];",
                "}",
            ],
        )
        size = f"3 * (fabs{self.suffix}({summed}[j]) + 1)"
        self.loop("j", n, [f"{votes}[j] += {summed}[j] / ({size});"])
        self.value, self.n = votes, n


def _inner(n: int, statement: str, index: str = "j") -> list[str]:
    """Return loops of a statement; compilers turn whole groups of four into vectors."""
    whole = n - n % VECTOR
    return [
        f"for (int {index} = {start}; {index} < {end}; {index}++) {statement}"
        for start, end in ((0, whole), (whole, n))
        if start < end
    ]


def quoted(text: str) -> str:
    r"""Return a C string literal of ASCII characters only.

    Examples
    --------
    >>> from supred.app.export.c_steps import quoted
    >>> print(quoted('a"?'))
    "a\"\?"
    """
    parts = []
    for byte in text.encode("utf-8", "surrogateescape"):
        char = chr(byte)
        if char in '"\\?':
            parts.append("\\" + char)
        else:
            parts.append(char if 32 <= byte < 127 else f"\\{byte:03o}")
    return f'"{"".join(parts)}"'

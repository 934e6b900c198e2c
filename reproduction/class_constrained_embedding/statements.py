"""What the paper says that no experiment measures."""

from reproduction.base import Statement

STATEMENTS = (
    Statement(
        "001:17-25, 001:68-70",
        "Motives and related work: manifolds, semi-supervised learning as regularisation.",
        "-",
        "no measurement in the text",
    ),
    Statement(
        "001:29-40",
        "The graph: k nearest neighbours either way, heat weights exp(-||x_i - x_j||^2 / eps).",
        "tests/class_embedding",
        "tested",
    ),
    Statement(
        "001:42-60",
        "Laplacian eigenmaps: eigenvectors of the smallest positive generalised eigenvalues.",
        "tests/class_embedding",
        "tested",
        "one constant vector is dropped per component: a graph of p components has p zero "
        "eigenvalues",
    ),
    Statement(
        "001:64-66",
        "Two classes; the extension to many is straightforward.",
        "tests/class_embedding",
        "agreed: K class nodes",
    ),
    Statement(
        "001:72-89",
        "Class nodes with unit edges; cost (5); weights W'.",
        "tests/class_embedding",
        "tested",
        "W' as printed; its beta is half the beta of (5), whose double sum counts each pair twice",
    ),
    Statement(
        "001:91",
        "The first coordinates of the eigenvectors are the class centers.",
        "tests/class_embedding",
        "tested (class_centers_)",
    ),
    Statement(
        "001:93",
        "Semi-supervised: zero columns of C for unlabelled rows.",
        "tests/class_embedding",
        "tested",
    ),
    Statement(
        "001:97-99",
        "beta = 1, k = 12, eps = (10 / n) sum of smallest squared distances.",
        "tests/class_embedding",
        "tested; experiments run with beta = 1",
        "by default beta is chosen: see the table of differences",
    ),
    Statement(
        "001:118-122",
        "A linear classifier by least squares on labelled rows, the sign decides.",
        "reproduction few-labels",
        "run as printed there",
        "supred's own linear classifier has an intercept and a small ridge",
    ),
    Statement(
        "001:138",
        "Out-of-sample extension is left open.",
        "src/supred/class_embedding",
        "built: harmonic extension, for a row or a batch",
        "not in the paper",
    ),
)

"""What the papers say and supred does differently by default, and why."""

from benchmarks._report import markdown

COLUMNS = ("where", "the paper", "supred's default", "why", "the paper's way")
DIFFERENCES = (
    (
        "000:153, 000:187",
        "random coordinates of each row to start from",
        "one code per class: a simplex, below K - 1 dimensions spread over the sphere",
        "From noise a one-vs-all SVM of three or more classes has its optimum at w = 0, and "
        "nothing moves; codes need an iteration or two. Random coordinates work with two classes, "
        "with one-vs-one SVMs and, given few rows and lambda of about 1, in more dimensions than "
        "classes (`many-spirals`, `mnist-ten`, `mnist-dimensions`).",
        '`init="random"`',
    ),
    (
        "000:153",
        "mu grows when the alternation at fixed mu has converged",
        "mu grows in each iteration",
        "A lower nested objective in several times fewer iterations; the test error is level "
        "from class codes and up to a point worse from a random start (`inner-loop`).",
        "`inner_tol=1e-3`",
    ),
    (
        "000:153",
        "stop at the first validation error that is not lower",
        "wait for five, keep the best iterate",
        "The error is not monotone; the first plateau is often the start.",
        "`n_iter_no_change=1`",
    ),
    (
        "000:70",
        "centres by k-means",
        "one k-means step from random rows",
        "The same error as thirty steps, in a small part of the time.",
        "pass the centres of `sklearn.cluster.KMeans` as `centers`",
    ),
    (
        "000:117",
        "one-vs-all",
        "one-vs-one for three to six classes, else one-vs-all",
        "Pairs keep apart classes that lie between others; with many classes they take longer.",
        '`multi_class="ovr"`',
    ),
    (
        "000:145",
        "the z step of K classes by active sets, row by row",
        "coordinate ascent for all rows at once",
        "The same optimum.",
        "-",
    ),
    (
        "000:70",
        "F(x) = W phi(x)",
        "an intercept, which is not penalised",
        "Shifting the coordinates then changes nothing.",
        "-",
    ),
    (
        "000:153, 000:209-211",
        "M, sigma and lambda by cross-validation or by hand",
        "chosen by the leave-one-out error of the regression to the class codes",
        "No row is held out and nothing is fitted twice.",
        "`LowDimSVCCV`, or `n_centers`, `gamma` and `alpha`",
    ),
    (
        "001:72-97",
        "eigenvectors of the graph with class nodes, beta = 1",
        "the flow from the class nodes gives coordinates and decisions",
        "With few labels far better; with beta = 1 the eigenvectors are behind nearest neighbours "
        "up to several hundred labels (`few-labels`).",
        '`coordinates="spectral", beta=1.0` (12 neighbours, then)',
    ),
    (
        "001:114",
        "a new row is added to the graph, which is embedded again",
        "harmonic extension of the embedding",
        "The text leaves it open for many rows; the same decisions for 98 % of the rows, without a "
        "new eigenproblem.",
        "`fit` with the row unlabelled; `transduction_`",
    ),
    (
        "001:118",
        "least squares without intercept",
        "the flow decides; the linear classifier has an intercept",
        "The class boundary need not pass through the origin.",
        "least squares on `embedding_` (`few-labels`)",
    ),
    (
        "002:63-71, 002:335",
        "origin of each class (Algorithm 1); also of all rows (002:53)",
        "origin of all rows; zero with a kernel",
        "About its own mean a class's scatter does not know where the class lies "
        "(`category-linear`).",
        '`origin="class"`',
    ),
    (
        "002:180-184",
        "the heuristic z step of the absolute criterion",
        "the exact step",
        "The heuristic is not a majoriser; the objective can fall (`category-algorithm`).",
        '`auxiliary_step="heuristic"`',
    ),
    (
        "002:393",
        "stop at ||W - W'|| <= 1e-8",
        "stop at a relative distance of 1e-6 to a stationary point",
        "The step length says nothing about the distance where convergence is slow; the objective "
        "is the same to six digits (`category-algorithm`).",
        "`tol=1e-8`",
    ),
    (
        "002:332",
        "an arbitrary orthonormal start",
        "a computed start and, for linear axes in the features as they are, five random ones, the "
        "best kept",
        "The absolute criterion has local optima (`category-algorithm`).",
        "`n_init=0` for one start",
    ),
    (
        "002:45-53, 002:399",
        "axes in the features as they are, or a kernel; angles, or SVMs after it",
        "an RBF kernel, whitened by the covariance within the classes",
        "The criterion knows nothing of the spread within classes (Vehicle in `category-linear`).",
        '`kernel="linear"`, `whiten=False`, `classifier="angle"`',
    ),
    (
        "004:35",
        "alternate a QP over alpha and an eigenproblem over A",
        "descent on the factorised problem from the SVMs' singular vectors",
        "The alternation does not converge and ends far above (`mmdr-convergence`).",
        '`solver="alternating"`',
    ),
    (
        "004:35",
        "further eigenvectors where d is larger than the number of tasks",
        "leading principal directions for the rest",
        "Their eigenvalues are zero: any directions would do, and these at least describe the rows "
        "(`transfer`).",
        "-",
    ),
)


def differences() -> str:
    """Return the table."""
    return markdown(COLUMNS, DIFFERENCES)

"""What the paper says that no experiment measures."""

from reproduction.base import Statement

STATEMENTS = (
    Statement(
        "004:14-16",
        "The joint problem (1): orthonormal A shared by K binary tasks, one SVM each.",
        "tests/max_margin",
        "tested",
        "b is per task, as it must be; the print has one b",
    ),
    Statement(
        "004:18",
        "A rank constraint on A is used rather than a trace norm.",
        "src/supred/max_margin",
        "implemented so",
    ),
    Statement(
        "004:20",
        "The constraints are not jointly convex in w and A.",
        "tests/max_margin",
        "agreed: several local optima are found",
    ),
    Statement(
        "004:22",
        "The dual (2) with 0 <= alpha <= C.",
        "tests/max_margin",
        "tested",
        "sum alpha_i y_i = 0 is added: the bias b of (1) needs it",
    ),
    Statement(
        "004:26",
        "A saddle point has a global optimum if it is concave in alpha and convex in A.",
        "reproduction mmdr-convergence",
        "agreed, but it is not convex in A",
    ),
    Statement(
        "004:26",
        "The dual is concave in alpha for any A.",
        "tests/max_margin",
        "agreed: an SVM dual",
    ),
    Statement(
        "004:30",
        "Equation (3), the linear kernel by traces.",
        "tests/max_margin",
        "tested as C_w - C_b = sum_k v_k v_k^T",
    ),
    Statement(
        "004:35",
        "The best A for given alpha: leading eigenvectors of C_w - C_b over the support vectors, "
        "by Lanczos.",
        "tests/max_margin",
        "tested",
        "the printed Tr(A^T (.) A) must read Tr(A (.) A^T); singular vectors of V, no D x D matrix",
    ),
)

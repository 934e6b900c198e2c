"""What the paper says that no experiment measures."""

from reproduction.base import Statement

TESTS = "tests/category_space"
STATEMENTS = (
    Statement(
        "002:19-39",
        "Motives and related work: Fisher has K - 1 dimensions, the category space K.",
        TESTS,
        "agreed: `transform` has one coordinate per class",
    ),
    Statement(
        "002:399",
        "Class membership by the angle to the category axes.",
        TESTS,
        "implemented: `predict`",
        "signs are ignored with a kernel, where they are arbitrary",
    ),
    Statement(
        "002:45-53", "K <= D orthonormal axes and an origin x0; objective (1).", TESTS, "tested"
    ),
    Statement(
        "002:45, 002:13",
        "A large inner product with the own axis implies small ones with the others: class "
        "discrimination is automatically guaranteed by orthogonal axes.",
        "reproduction category-widths",
        "not guaranteed: true for rows of the same length only; with kernels the angle shows it, "
        "and on Vehicle linear axes are far behind Fisher's (category-linear)",
    ),
    Statement(
        "002:55-71",
        "Legendre transform (3), (4); sum z = 0 removes the class mean.",
        TESTS,
        "tested",
    ),
    Statement(
        "002:75-83",
        "Absolute criterion (6), smoothed, majorised (7).",
        TESTS,
        "tested",
        "the print mixes eps and eps^2; inside the root it is eps^2 here",
    ),
    Statement("002:87-111", "Kernel form (8) to (12), A G A^T = I.", TESTS, "tested"),
    Statement("002:115-159", "The W step is the polar decomposition (22).", TESTS, "tested"),
    Statement("002:163-174", "The z step of the squared criterion (24).", TESTS, "tested"),
    Statement("002:188-225", "The kernel's W step (34).", TESTS, "tested"),
    Statement(
        "002:227-235", "The kernel's z steps (35), (36).", TESTS, "tested", "(36) with the exact m"
    ),
    Statement(
        "002:273-277",
        "The matrices R and S(w).",
        TESTS,
        "tested",
        "the blocks of S are multiples of I_D; the print has I_K",
    ),
    Statement(
        "002:25",
        "No algorithm can guarantee the criterion beforehand; it is checked case by case.",
        TESTS,
        "agreed: `certificate` checks it",
        "a dual certificate beside it, which proves more cases (category-algorithm)",
    ),
    Statement(
        "002:309",
        "Kernel objective (52) with one H.",
        "reproduction category-widths",
        "H depends on the class: G^-1/2 G_k G^-1/2",
        "the print's first form has no index k",
    ),
    Statement(
        "002:317",
        "The problem cannot be reduced to a trace problem with a closed form.",
        TESTS,
        "agreed",
    ),
    Statement(
        "002:393",
        "Patterns are mapped by y = W^T x.",
        TESTS,
        "tested",
        "the linear form subtracts the origin; a shift that no SVM notices",
    ),
    Statement(
        "002:419",
        "Future work: an origin margin, no orthogonality, several labels.",
        "docs/category-space.md",
        "built: `margin`, `overlap_penalty`, `fit(X, Y)`",
        "not in the paper",
    ),
)

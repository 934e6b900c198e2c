"""What the papers say that no experiment measures."""

from reproduction.base import Statement

TESTS = "tests/low_dim_svm"
STATEMENTS = (
    Statement(
        "000:20-22, 000:161, 003:5-25, 003:52-94, 003:352-355",
        "Filters and wrappers; the questions of the paper.",
        "reproduction joint-training",
        "no measurement in the text; what the wrapper adds is measured there",
    ),
    Statement(
        "000:246",
        "Larger speed-ups may be possible with other parallel models.",
        "docs/performance.md",
        "threads, blocks and clusters are measured there",
    ),
    Statement(
        "000:28-40, 003:101-238",
        "The nested problem (1), the constrained one (2), the penalised one (3).",
        TESTS,
        "tested",
    ),
    Statement(
        "000:32, 003:152-153",
        "(2) is equivalent to (1).",
        TESTS,
        "agreed: z_n = F(x_n) substituted",
    ),
    Statement(
        "000:62, 000:153, 003:239-247, 003:309-315",
        "Each step is convex and reuses regression and SVMs; no gradients.",
        TESTS,
        "tested: the steps are ridge regression, linear SVMs and a quadratic program",
    ),
    Statement(
        "000:66, 003:256-260",
        "g step: linear SVMs, by LIBSVM, one by one.",
        TESTS,
        "tested against LIBSVM",
        "a solver of our own, to the same optimum",
    ),
    Statement(
        "000:70, 003:262-287",
        "F step: Gaussians about k-means centres, a linear system, factorised once for all mu.",
        TESTS,
        "tested",
        "one k-means step from random rows: thirty steps have the same error",
    ),
    Statement(
        "000:70, 003:264-265",
        "F may be a deep net or a Gaussian process.",
        TESTS,
        "any regressor is taken as `mapping`",
    ),
    Statement(
        "000:70, 003:279-284",
        "Cost O(M(L+D)) in memory, O(NM(M+D)) in time.",
        "docs/performance.md",
        "as built; rows beyond memory in blocks",
    ),
    Statement(
        "000:74-116, 003:289-307",
        "z step: closed form for two classes, by the KKT conditions.",
        TESTS,
        "tested; experiment z-step",
    ),
    Statement(
        "000:141-145, 003:248-254",
        "K classes: one-vs-all, a quadratic program of L + K variables per row, by an active set "
        "method.",
        TESTS,
        "tested against clarabel",
        "coordinate ascent in the dual for all rows together",
    ),
    Statement(
        "000:145",
        "C^k may differ from SVM to SVM.",
        "-",
        "not built: one C, as in the paper's experiments (000:211), and class weights",
        "one C",
    ),
    Statement(
        "000:147-149",
        "One-vs-one: majority vote, each point in K - 1 SVMs.",
        TESTS,
        "tested; experiment one-vs-one",
    ),
    Statement("000:153, 003:315-316", "Deterministic given its initialisation.", TESTS, "tested"),
    Statement(
        "000:153, 003:326-328",
        "Early stopping when the validation error does not change or goes up.",
        TESTS,
        "tested",
        "waits for five iterations (n_iter_no_change) and keeps the best iterate",
    ),
    Statement(
        "000:153, 003:332-334",
        "Hyperparameters M, sigma, lambda, C by cross-validation.",
        TESTS,
        "LowDimSVCCV",
    ),
    Statement(
        "000:155, 003:627-635",
        "The steps decouple over dimensions, classes and samples.",
        "docs/cluster.md",
        "built so: blocks, Dask",
    ),
    Statement(
        "000:157, 003:336-348",
        "g(F(x)) = v^T phi(x) + b; M(D + L) + L parameters; O(MD) for a test point.",
        TESTS,
        "tested (model_size_, flops_per_row_)",
    ),
    Statement(
        "000:165, 003:366-390",
        "The ideal: K centroids, on a line for K = 2, a polygon for L = 2, spread over a sphere, a "
        "simplex from L = K - 1 on.",
        "tests/low_dim_svm",
        "the default start is just that; experiment many-spirals",
    ),
    Statement(
        "000:176, 003:434-436",
        "A recipe for L: from K - 1 up until the error does not improve; for Z: the simplex.",
        "tests/low_dim_svm",
        "LowDimSVCCV searches n_components; the simplex is the default start",
    ),
    Statement(
        "000:178",
        "A constant F is trivial; a piecewise constant one is hard to learn.",
        "reproduction two-spirals",
        "agreed: see the collapse over M",
    ),
    Statement(
        "000:182-187, 003:355-364",
        "The comparisons: NN, linear and Gaussian SVMs, NN after PCA, KPCA, LDA and KLDA; a grid "
        "search on separate validation rows; random coordinates to start from.",
        "reproduction newsgroups",
        "run so there, in mnist-odd-even and in mnist-ten",
        "as printed; class codes beside random coordinates",
    ),
    Statement(
        "000:207, 003:525-528",
        "KPCA and KLDA were not run on ten classes: the kernel matrix is too large.",
        "reproduction mnist-ten",
        "not run there either; KernelDiscriminantAnalysis has landmarks for this",
    ),
    Statement(
        "000:209-211, 003:528-531",
        "sigma = 4 from the Gaussian SVM; 2500 centres by k-means; lambda = 1e-3 (a wide range "
        "works); C from 1e-3 to 1e3.",
        "reproduction mnist-ten",
        "run so; from random coordinates lambda = 1 works better",
        "the Gaussian SVM's width of three, its C = 10",
    ),
    Statement(
        "000:225",
        "With a model that is nonlinear in its parameters the gains would be larger.",
        "-",
        "not tested: no such comparison in the text",
    ),
    Statement(
        "000:254",
        "The ideal filter maps inputs to the corners of a simplex.",
        "reproduction joint-training",
        "iteration 0 is that filter",
    ),
    Statement(
        "000:256-258, 000:282, 003:636-660, 003:743-750",
        "With an optimal F the entire manifold collapses: all structure but the class is erased.",
        "reproduction two-spirals",
        "approached as M grows: see there",
    ),
    Statement(
        "000:260, 003:590-614",
        "A kernel SVM's number of support vectors is not set by the user; M is.",
        "reproduction mnist-ten",
        "agreed: both numbers are measured there",
    ),
    Statement(
        "000:262, 003:618-624",
        "W and w are regularised separately: another structure than v's own norm.",
        "reproduction joint-training",
        "what it buys is measured there",
    ),
    Statement(
        "000:262, 003:624-625",
        "With another form of F (deep nets) the resemblance to kernel SVMs disappears.",
        "-",
        "agreed: v = W^T w needs an F that is linear in its weights",
    ),
    Statement(
        "000:264",
        "With a linear F: metric learning by a low-rank A^T A.",
        "reproduction newsgroups",
        "agreed; mapping='linear'",
    ),
    Statement(
        "000:270, 003:671-674",
        "LDA and KLDA give K - 1 dimensions at most.",
        "tests/discriminant",
        "agreed, tested",
    ),
    Statement(
        "000:268-270, 003:663-679",
        "Related work: filters and their proxies.",
        "-",
        "no measurement in the text",
    ),
    Statement(
        "000:280, 003:729-742",
        "Easy to implement, reuses regression and SVM procedures, parallelises.",
        "docs/low-dim-svm.md",
        "built of a ridge regression and linear SVMs; experiment speed-up",
    ),
    Statement(
        "000:272-276, 003:680-726",
        "Related work: metric learning, other wrappers, biased objectives.",
        "-",
        "no measurement in the text",
    ),
    Statement(
        "000:282-284, 003:751-758",
        "Future work: other mappings and classifiers.",
        "docs/low-dim-svm.md",
        "any regressor, log-loss; RBFNetClassifier learns the centres",
    ),
)

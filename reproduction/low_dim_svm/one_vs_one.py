"""One-vs-all and one-vs-one SVMs in the latent space: training and test time."""

from time import process_time

from sklearn.svm import SVC

from reproduction.base import Claim, Draw, Experiment, Part, Row
from reproduction.protocols import draw_rows, error_on_test, low_dim_svm


def measure(draw: Draw) -> dict[str, float]:
    """Return errors of both, and times of SVMs alone on the same latent coordinates."""
    size = 2000 if draw.quick else 10_000
    rows = draw_rows(draw.data.mnist(), size, size, draw.seed)
    found = {}
    for name in ("ovr", "ovo"):
        model = low_dim_svm(
            rows, 9, gammas=(1 / 32,), n_centers=500, seed=draw.seed, multi_class=name
        )
        found[f"{name}: error"] = error_on_test(model, rows)
        found[f"{name}: svms"] = float(len(model.coef_))
    Z = model.transform(rows.X)
    began = process_time()
    pairs = SVC(kernel="linear").fit(Z, rows.y)  # LIBSVM: one per pair of classes
    found["ovo: training"] = process_time() - began
    began = process_time()
    for label in range(10):
        SVC(kernel="linear").fit(Z, rows.y == label)
    found["ovr: training"] = process_time() - began
    found["support"] = float(pairs.n_support_.sum())
    new, coef = model.transform(rows.X_test), model.coef_
    for name, weights in (("ovr", coef[:10]), ("ovo", coef)):
        began = process_time()
        for _ in range(50):
            new @ weights.T
        found[f"{name}: test"] = 1e3 * (process_time() - began) / 50
    return found


EXPERIMENT = Experiment(
    name="one-vs-one",
    paper="low_dim_svm",
    title="One-vs-all and one-vs-one SVMs",
    unit="MNIST, L = 9, M = 500, class codes",
    protocol="10 000 training rows. Times of LIBSVM on the same latent coordinates (one "
    "processor), and of the decision values of 10 000 rows.",
    difference="the text states it without figures; MNIST chosen here",
    quick_note="2000 rows.",
    parts=[Part("both", measure)],
    rows=[
        Row(f"{label}: {what}", "both", f"{name}: {key}", digits=digits)
        for name, label in (("ovr", "one-vs-all"), ("ovo", "one-vs-one"))
        for what, key, digits in (
            ("SVMs", "svms", 0),
            ("test error %", "error", 2),
            ("seconds to train the SVMs", "training", 3),
            ("milliseconds of the decision values", "test", 3),
        )
    ],
    draws=(1, 3),
    claims=[
        Claim(
            "One-vs-all performs as well as one-vs-one.",
            lambda m: m["both", "ovr: error"] <= m["both", "ovo: error"] + 0.3,
            "000:117",
            lambda m: (
                f"{m['both', 'ovr: error']:.2f} and {m['both', 'ovo: error']:.2f} % from class "
                "codes. From random coordinates one-vs-one is far ahead (mnist-ten)."
            ),
        ),
        Claim(
            "One-vs-one has 45 SVMs in place of 10.",
            lambda m: m["both", "ovo: svms"] == 45 and m["both", "ovr: svms"] == 10,
            "000:147-149",
        ),
        Claim(
            "One-vs-one has a lower training time but a higher test time.",
            lambda m: (
                m["both", "ovo: training"] < m["both", "ovr: training"]
                and m["both", "ovo: test"] > m["both", "ovr: test"]
            ),
            "000:147",
            lambda m: (
                f"Training {m['both', 'ovo: training']:.3f} and {m['both', 'ovr: training']:.3f} "
                f"s, decision values {m['both', 'ovo: test']:.1f} and {m['both', 'ovr: test']:.1f} "
                "ms."
            ),
        ),
    ],
)

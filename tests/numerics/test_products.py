"""Products by one BLAS, against NumPy's."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from supred.numerics.products import product

RNG = np.random.RandomState(0)


@pytest.mark.parametrize("dtypes", [("f", "f"), ("d", "d"), ("f", "d")])
@pytest.mark.parametrize("shapes", [((7, 5), (5, 3)), ((1, 5), (5, 1)), ((6, 1), (1, 4))])
@pytest.mark.parametrize("layout_a", ["C", "F", "strided"])
@pytest.mark.parametrize("layout_b", ["C", "F", "strided"])
def test_products_of_any_layout(dtypes, shapes, layout_a, layout_b):
    A, B = (
        laid_out(RNG.normal(size=shape).astype(dtype), layout)
        for shape, dtype, layout in zip(shapes, dtypes, (layout_a, layout_b), strict=True)
    )
    kept = A.copy(), B.copy()
    result = product(A, B)
    expected = A @ B
    assert result.dtype == expected.dtype
    np.testing.assert_allclose(result, expected, rtol=1e-5)
    np.testing.assert_array_equal(A, kept[0])
    np.testing.assert_array_equal(B, kept[1])


def test_other_threads_get_the_same():
    A, B = RNG.normal(size=(40, 30)), RNG.normal(size=(30, 20))
    with ThreadPoolExecutor(1) as pool:
        found = pool.submit(product, A, B).result()
    np.testing.assert_allclose(found, product(A, B))


def laid_out(matrix, layout):
    if layout == "strided":
        return np.repeat(np.repeat(matrix, 2, axis=0), 2, axis=1)[::2, ::2]
    return np.asarray(matrix, order=layout)


@pytest.mark.parametrize("shapes", [((0, 3), (3, 2)), ((2, 0), (0, 3)), ((2, 3), (3, 0))])
def test_empty_products(shapes):
    result = product(*(np.ones(shape) for shape in shapes))
    np.testing.assert_array_equal(result, np.zeros((shapes[0][0], shapes[1][1])))

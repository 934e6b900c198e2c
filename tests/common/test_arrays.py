import numpy as np
import pytest

from supred.common.arrays import (
    HOST,
    at_least,
    at_most,
    cast,
    cholesky,
    copied,
    is_foreign,
    on_host,
    place_of,
    recorded,
    solve_triangular,
    stays_in_place,
    type_name,
)
from tests.devices import LIBRARIES, dispatch, putter


@pytest.fixture(params=["numpy", *LIBRARIES])
def put(request):
    return np.array if request.param == "numpy" else putter(request.param)


def test_arrays_go_to_a_place_and_come_back(put):
    values = np.arange(6.0).reshape(2, 3)
    there = place_of(put(values)).put(values)
    assert type(there) is type(put(values))
    np.testing.assert_array_equal(on_host(there), values)
    assert place_of(put(values)).zeros((2,), "float32").dtype == put(np.float32([1])).dtype


def test_types(put):
    values = put(np.arange(3, dtype=np.float32))
    assert type_name(values) == np.float32
    assert type_name(cast(values, float)) == np.float64
    assert cast(values, np.float32) is values


def test_in_place_and_copies(put):
    values = put(np.array([-1.0, 2.0]))
    kept = copied(values)
    at_most(values, 1)
    at_least(values, 0)
    np.testing.assert_array_equal(on_host(values), [0.0, 1.0])
    np.testing.assert_array_equal(on_host(kept), [-1.0, 2.0])


def test_triangles(put):
    A = np.array([[[4.0, 2.0], [2.0, 3.0]]])
    L = cholesky(put(A))
    np.testing.assert_allclose(on_host(L), np.linalg.cholesky(A))
    right = np.array([[[1.0], [2.0]]])
    found = solve_triangular(L.swapaxes(1, 2), put(right), upper=True)
    np.testing.assert_allclose(on_host(found), np.linalg.solve(on_host(L).swapaxes(1, 2), right))


def test_a_recorded_function_does_the_same_in_every_call(put):
    total = put(np.zeros(2))

    def step(values, factors):
        nonlocal total
        total += values * factors[0]

    quick = recorded(step, place_of(total))
    for number in range(8):
        quick(put(np.array([1.0, number])), put(np.array([2.0])))
    np.testing.assert_array_equal(on_host(total), [16.0, 56.0])


@pytest.mark.parametrize("library", LIBRARIES)
def test_arrays_stay_where_they_are_if_scikit_learn_is_told_so(library):
    values = putter(library)(np.zeros(2))
    assert is_foreign(values)
    assert not stays_in_place(values)
    with dispatch():
        assert stays_in_place(values)
        assert not stays_in_place(on_host(values))
    assert place_of(on_host(values)) == HOST

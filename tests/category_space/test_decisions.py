"""The rules that give a class to coordinates."""

import numpy as np
import pytest

from supred.category_space.decisions import AxisRule


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1.0, 1e160, 1e300])
def test_angles_do_not_depend_on_the_scale(scale):
    Z = np.array([[3.0, 4.0], [-1.0, 0.0], [0.0, 0.0]])
    with np.errstate(all="raise"):
        cosines = AxisRule("axes").scores(scale * Z)
    np.testing.assert_allclose(cosines, [[0.6, 0.8], [-1.0, 0.0], [0.0, 0.0]], rtol=1e-14)

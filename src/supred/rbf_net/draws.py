"""Which rows and which noise each step of a descent sees: known beforehand from a seed."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

# Noise is drawn for this many steps from one generator.
NOISE_GROUP = 64


@dataclass(frozen=True)
class Draws:
    """Which rows each step sees: a shuffled pass after the other.

    Attributes
    ----------
    parts : tuple of ndarrays of int
        Rows that may be drawn, one array per network, or one for all networks. All of one length.
    size : int
        Rows of a block.
    seed : int
    """

    parts: tuple[np.ndarray, ...]
    size: int
    seed: int

    @property
    def per_pass(self) -> int:
        """Blocks of a pass."""
        return max(1, len(self.parts[0]) // self.size)

    def of_pass(self, number: int) -> np.ndarray:
        """Return the rows of the blocks of a pass, shape (n_blocks, n_parts, size)."""
        rng = np.random.default_rng((self.seed, number))
        n_rows = len(self.parts[0])
        order = rng.permutation(n_rows)[: self.per_pass * self.size]
        blocks = order.reshape(self.per_pass, -1)
        return np.stack([part[blocks] for part in self.parts], axis=1)

    def blocks(self, first_step: int) -> Iterator[np.ndarray]:
        """Yield the rows of each step's block from `first_step` on, shape (n_parts, size)."""
        number, skip = divmod(first_step, self.per_pass)
        while True:
            yield from self.of_pass(number)[skip:]
            number, skip = number + 1, 0

    def normals(self, first_step: int, width: int) -> Iterator[np.ndarray]:
        """Yield standard normal numbers for the rows of each step, the same for all networks.

        Their shape is (1, size, width).
        """
        shape = (1, self.size, width)
        group, skip = divmod(first_step, NOISE_GROUP)
        while True:
            rng = np.random.Generator(np.random.SFC64((self.seed, 1, group)))
            for step in range(NOISE_GROUP):
                values = rng.standard_normal(shape, dtype=np.float32)
                if step >= skip:
                    yield values
            group, skip = group + 1, 0

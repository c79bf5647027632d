"""Many blocks as one, and apart again."""

from __future__ import annotations

import numpy as np

from credo.constraints.blocks import split_block, stacked, starts_of
from tests.helpers.block_tasks import general_task


def test_what_is_stacked_comes_apart() -> None:
    """Blocks without rows among them."""
    generator = np.random.default_rng(1)
    blocks = [general_task(generator).block for _ in range(30)]
    whole = stacked(blocks)
    theta = [generator.random(block.size) for block in blocks]
    values = np.concatenate([block.linear.values(own) for block, own in zip(blocks, theta, strict=True)])
    np.testing.assert_array_equal(whole.linear.values(np.concatenate(theta)), values)
    distributions = starts_of([len(block.distributions) - 1 for block in blocks])
    rows = starts_of([len(block.linear) for block in blocks])
    for block, other in zip(blocks, split_block(whole, distributions, rows), strict=True):
        assert other.configurations == block.configurations
        assert list(other.linear) == list(block.linear)
        for name in ("parameters", "distributions", "distribution_of"):
            np.testing.assert_array_equal(getattr(other, name), getattr(block, name))

"""What a GPU can do at most, measured: the speed of a large matrix product, of which others' speeds are shares."""

from __future__ import annotations

import time


def product_peak(dtype, size: int = 8192, times: int = 30) -> float:
    """Operations a second of a product of two square matrices of `size` numbers of a torch type."""
    import torch

    one, other = (torch.randn(size, size, device="cuda", dtype=dtype) for _ in range(2))
    for _ in range(3):
        one @ other
    torch.cuda.synchronize()
    begin = time.perf_counter()
    for _ in range(times):
        one @ other
    torch.cuda.synchronize()
    return times * 2 * size**3 / (time.perf_counter() - begin)

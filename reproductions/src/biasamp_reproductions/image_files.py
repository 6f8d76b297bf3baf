"""Image files of any size as small square arrays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray


def read_image(path: Path, side: int) -> NDArray[np.uint8]:
    """An image as bytes of shape (3, side, side), stretched to a square.

    Raises
    ------
    ImportError
        Where Pillow is not installed.
    """
    try:
        from PIL import Image
    except ImportError:
        raise ImportError("reading images needs Pillow: pip install 'biasamp[experiments]'") from None
    opened: Any
    with Image.open(path) as opened:
        small = opened.convert("RGB").resize((side, side), Image.Resampling.BILINEAR)
    return np.ascontiguousarray(np.asarray(small, dtype=np.uint8).transpose(2, 0, 1))

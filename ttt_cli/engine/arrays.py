"""Names for the types of NumPy arrays that annotations use; docstrings give the shapes."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Int8s = NDArray[np.int8]
Int32s = NDArray[np.int32]
Int64s = NDArray[np.int64]
Uint32s = NDArray[np.uint32]
Uint64s = NDArray[np.uint64]

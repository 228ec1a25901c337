# SPDX-License-Identifier: MIT
"""Image in the memory where it was rendered."""

import numpy as np

from ._images import Image

CPU = 1  # device type of DLPack


class DeviceImage:
    """A float32 image [slow, fast] on a device, or in host memory if the CPU renders.

    torch.from_dlpack, cupy.from_dlpack, and numpy.from_dlpack (host) share the memory;
    numpy.asarray copies.  The memory does not change while the image is used."""

    dtype = np.dtype(np.float32)
    ndim = 2

    def __init__(self, memory, shape):
        self._memory, self.shape = memory, shape

    @property
    def device(self):
        """"cpu" or "cuda:0"."""
        kind, number = self._memory.place()
        return "cpu" if kind == CPU else f"cuda:{number}"

    def __dlpack_device__(self):
        return self._memory.place()

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        # the image is finished, so that any stream of the consumer may read it at once
        if dl_device is not None and tuple(dl_device) != self._memory.place():
            if tuple(dl_device) != (CPU, 0) or copy is False:
                raise BufferError(f"the image is on {self.device} and not on the device {dl_device}")
            copy = True
        if copy and self.device != "cpu" and dl_device is None:
            raise BufferError("a copy on the device is the consumer's to make")
        return np.asarray(self).__dlpack__() if copy else self._memory.capsule(*self.shape)

    def __array__(self, dtype=None, copy=None):
        if copy is False:
            raise ValueError("numpy's array of this image is a copy; numpy.from_dlpack shares memory of the host")
        out = np.empty(self.shape, dtype=np.float32)
        self._memory.read(out)
        return out if dtype is None else out.astype(dtype, copy=False)

    def numpy(self):
        """A copy as a numpy array."""
        return np.asarray(self).view(Image)

    def __repr__(self):
        return f"<nanobragg.DeviceImage {self.shape[1]} x {self.shape[0]} pixels on {self.device}>"

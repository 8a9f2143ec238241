# SPDX-License-Identifier: Apache-2.0
"""The memory shared with the program that judges, and the tensor operands of a step over copies of it."""
import mmap
import os

import torch

from .arguments import ArgumentFailure, dtype_of
from .case_text import contiguous_strides, tensors_of

ALIGNMENT = 64
VIEWS = torch._C.DispatchKeySet(torch._C.DispatchKey.ADInplaceOrView)


class Arena:
    """Operands lie in it and are only read; results are put into [begin, end)."""

    def __init__(self, path, begin, end):
        with open(path, "r+b") as file:
            self.size = os.fstat(file.fileno()).st_size
            if not 0 <= begin <= end <= self.size or not self.size:
                raise OSError(f"{path}: not the memory that was promised")
            self._memory = mmap.mmap(file.fileno(), self.size)
        self.next, self._end = begin, end

    def view(self, offset, size, dtype):
        """Bytes [offset, offset + size) as a one-dimensional CPU tensor over this very memory."""
        if offset > self.size or size > self.size - offset or offset % ALIGNMENT:
            raise ArgumentFailure("an operand lies outside the shared memory")
        count = size // dtype.itemsize
        if not count:
            return torch.empty(0, dtype=dtype)
        return torch.frombuffer(self._memory, dtype=torch.uint8, count=count * dtype.itemsize, offset=offset).view(dtype)

    def put(self, tensor):
        """Copies the elements of a dense tensor of any device, row-major, and says where they lie."""
        size, at = tensor.numel() * tensor.element_size(), self.next
        if size > self._end - at:
            raise ArgumentFailure("the results do not fit the shared memory")
        if size:
            host = tensor.detach().resolve_conj().resolve_neg().cpu().contiguous()
            self.view(at, size, torch.uint8).copy_(host.reshape(-1).view(torch.uint8))
        self.next = (at + size + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT
        return at


def strides_of(tensor):
    return contiguous_strides(tensor.sizes) if tensor.strides is None else tensor.strides


def extent(tensor):
    """Bytes from the start of its storage to the end of its last element."""
    if 0 in tensor.sizes:
        return 0
    last = sum((size - 1) * stride for size, stride in zip(tensor.sizes, strides_of(tensor), strict=True))
    return (1 + tensor.offset + last) * tensor.itemsize()


def layout_of(specs):
    """(the operand whose storage each lies in, bytes of each one's storage: 0 for those that have none of their own)"""
    roots, sizes = [], [0] * len(specs)
    for i, spec in enumerate(specs):
        roots.append(i if spec.alias is None else roots[spec.alias])
        sizes[roots[i]] = max(sizes[roots[i]], extent(spec))
    return roots, sizes


def storage_id(tensor):
    try:
        return tensor.untyped_storage()._cdata
    except (RuntimeError, NotImplementedError):  # sparse
        return None


class OperandTensors:
    """Each over a copy of its storage on the device, so that strides, offsets and aliases are those of the case."""

    def __init__(self, step, arena, offsets, device):
        self.specs = tensors_of(step)
        self._arena, self._offsets, self._device = arena, offsets, device
        self._roots, self._sizes = layout_of(self.specs)
        self._bases, self._made = {}, {}
        for i in range(len(self.specs)):
            self._make(i)

    def _host(self, root):
        if root >= len(self._offsets):
            raise ArgumentFailure("an operand has no memory")
        return self._arena.view(self._offsets[root], self._sizes[root], dtype_of(self.specs[root].dtype))

    def _make(self, index):
        spec, root = self.specs[index], self._roots[index]
        first = self.specs[root]
        if spec.alias is not None and spec.geometry() == first.geometry():
            self._made[index] = self._made[root]
            return
        if root not in self._bases:
            self._bases[root] = self._host(root).clone().to(self._device)
        tensor = self._bases[root]
        if spec.dtype != first.dtype:
            tensor = tensor.view(dtype_of(spec.dtype))
        # No view to autograd: an operand stands for itself.
        with torch._C._AutoDispatchBelowAutograd(), torch._C._ExcludeDispatchKeyGuard(VIEWS):
            tensor = tensor.as_strided(spec.sizes, strides_of(spec), spec.offset)
        self._made[index] = tensor.detach().requires_grad_(True) if spec.grad else tensor

    def tensor(self, spec):
        """The tensor of one of the specs, by identity: equal ones may be different operands."""
        return next(self._made[i] for i, known in enumerate(self.specs) if known is spec)

    def requiring_grad(self):
        return [(i, tensor) for i, tensor in sorted(self._made.items()) if tensor.requires_grad]

    def shared_with(self, tensor):
        """The root operand whose storage a tensor shares; -1 when it shares none."""
        own = None if tensor is None else storage_id(tensor)
        return next((root for root, base in sorted(self._bases.items()) if own is not None and storage_id(base) == own), -1)

    def changed(self):
        """Root operands whose storage differs from what it was, in order."""
        out = []
        for root, base in sorted(self._bases.items()):
            before, after = self._host(root), base.cpu()
            if after.nbytes != before.nbytes or not torch.equal(after.view(torch.uint8), before.view(torch.uint8)):
                out.append(root)
        return out

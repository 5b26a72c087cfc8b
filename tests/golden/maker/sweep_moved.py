"""Expressions of one tensor that sweep_cases.py takes: elements moved, normalised and multiplied."""

import ast

# Expressions of one tensor, and the shapes they are called with.
MOVED = {
    (2, 3):
        "reshape(a, (3, 2));reshape(a, -1);reshape(a, (-1, 1, 2));reshape(a, (6,));"
        "reshape(a, (4, 2));reshape(a, (-1, -1));broadcast_to(a, (2, 2, 3));"
        "broadcast_to(a, (2, 3));broadcast_to(a, (3, 3));transpose(a);transpose(a, (1, 0));"
        "transpose(a, (-1, 0));transpose(a, (0, 0));swapaxes(a, 0, -1);swapaxes(a, 0, 2);"
        "moveaxis(a, 0, -1);moveaxis(a, [0, 1], [1, 0]);expand_dims(a, 0);expand_dims(a, -1);"
        "expand_dims(a, (0, 2));expand_dims(a, (0, -1));expand_dims(a, 4);flip(a);flip(a, 0);"
        "flip(a, (0, 1));flip(a, -1);flip(a, ());fliplr(a);flipud(a);tile(a, 2);"
        "tile(a, (2, 1));tile(a, (2, 1, 2));tile(a, (0, 1));repeat(a, 2);"
        "repeat(a, 2, axis=0);repeat(a, 0, axis=1);repeat(a, [1, 2], axis=0);"
        "repeat(a, [2], axis=1);repeat(a, [1, 0, 2], axis=-1);roll(a, 1);roll(a, -1, axis=0);"
        "roll(a, 5, axis=-1);roll(a, (1, 2), axis=(0, 1));roll(a, 1, axis=(0, 1));rot90(a);"
        "rot90(a, k=2);rot90(a, k=-1);rot90(a, k=5, axes=(1, 0));rot90(a, axes=(0, 0));"
        "split(a, 3, axis=1);split(a, 2);split(a, [1], axis=-1);split(a, [1, 1, 2], axis=1);"
        "split(a, [], axis=1);split(a, 2, axis=1);split(a, [5], axis=1);"
        "split(a, [-1], axis=1);split(a, [2, 1], axis=1);array_split(a, 2, axis=1);"
        "array_split(a, 4, axis=1);array_split(a, [1], axis=0);hsplit(a, 3);vsplit(a, 2);"
        "hsplit(a, [1]);vsplit(a, [1]);dsplit(a, 1);unstack(a);unstack(a, axis=1);"
        "unstack(a, 3, axis=-1);unstack(a, 2, axis=1);sort(a);sort(a, axis=0);"
        "sort(a, axis=None);argsort(a);argsort(a, axis=0);argsort(a, axis=None);top_k(a, 2);"
        "top_k(a, 1, sorted=False);top_k(a, 4);top_k(a, 0);diagonal(a);diagonal(a, offset=1);"
        "diagonal(a, offset=-5);diagonal(a, axis1=1, axis2=0);diagonal(a, axis1=0, axis2=0);"
        "trace(a);trace(a, offset=-1);tril(a);tril(a, k=-1);triu(a);triu(a, k=1);"
        "tril(a, k=9);triu(a, k=-9);diff(a);diff(a, n=2);diff(a, axis=0);diff(a, n=0);"
        "diff(a, n=5);pad(a, 1);pad(a, (1, 2));pad(a, [[1, 0], [0, 2]]);"
        "pad(a, [[0, 0], [1, 1]], mode='reflect');pad(a, [[0, 0], [1, 1]], mode='symmetric');"
        "pad(a, [[1, 0], [0, 2]], constant_values=2);"
        "pad(a, [[1, 0], [0, 2]], constant_values=2.5);"
        "pad(a, [[1, 0], [0, 2]], constant_values=True);"
        "pad(a, [[0, 0], [3, 3]], mode='reflect');pad(a, [[1, 0], [0, 2]], mode='edge');"
        "pad(a, [[1]]);squeeze(a);squeeze(a, axis=0);ravel(a);a[0];a[-1, 1];a[:, ::-1];"
        "a[..., None];a[1:, 1:];a[None,];a[5];a[0, 0, 0];a[:, 5:];a[2:0,];a[:, -2:];"
        "a[:, 2:0:-1];a[:, 100];a[()];a[...,];a[..., 0];a[0, ...];a[:, None, 1];a[::2, ::3];"
        "a[True];a[[0, 1]];a[[1, 0, 1]];a[:, [2, 0]];softmax(a);softmax(a, axis=0);"
        "softmax(a, axis=None);softmax(a, axis=(0, 1));softmax(a, axis=-2);"
        "softmax(a, axis=[0]);softmax(a, axis=2);log_softmax(a);log_softmax(a, axis=0);"
        "log_softmax(a, axis=None);log_softmax(a, axis=(0, 1));sparsemax(a);"
        "sparsemax(a, axis=0);glu(a);glu(a, axis=0);normalize(a);normalize(a, axis=0);"
        "normalize(a, order=1);normalize(a, axis=None);normalize(a, order=3);"
        "normalize(a, order=float('inf'));normalize(a, axis=(0, 1));normalize(a, order=0.5);"
        "normalize(a, order='fro');normalize(a, epsilon=1.0);norm(a);norm(a, axis=0);"
        "norm(a, axis=-1, keepdims=True);norm(a, ord=1);norm(a, ord=-1);"
        "norm(a, ord=float('inf'));norm(a, ord=float('-inf'));norm(a, ord=2);norm(a, ord=-2);"
        "norm(a, ord='nuc');norm(a, ord='fro');norm(a, ord='fro', axis=1);"
        "norm(a, ord=0, axis=1);norm(a, ord=3, axis=1);norm(a, ord=0.5, axis=0);"
        "norm(a, ord=3);norm(a, ord=-1, axis=1);norm(a, ord=1, axis=(1, 0), keepdims=True);"
        "norm(a, keepdims=True);norm(a, axis=());norm(a, ord=float('inf'), axis=(1, 0));"
        "norm(a, ord=float('-inf'), axis=0);layer_normalization(a);"
        "layer_normalization(a, axis=0);layer_normalization(a, axis=(0, 1));"
        "layer_normalization(a, epsilon=0.1);layer_normalization(a, rms_scaling=True);"
        "layer_normalization(a, gamma=[1.0, 2.0, 3.0]);"
        "layer_normalization(a, gamma=[1.0, 2.0, 3.0], rms_scaling=True);"
        "layer_normalization(a, beta=[1.0, 2.0, 3.0]);rms_normalization(a);"
        "rms_normalization(a, axis=0);rms_normalization(a, epsilon=0.5);"
        "rms_normalization(a, scale=[1.0, 2.0, 3.0]);rms_normalization(a, axis=(0, 1));"
        "one_hot(a, 4);one_hot(a, 4, axis=0);one_hot(a, 3, dtype='int32');"
        "one_hot(a, 4, axis=1);one_hot(a, 2, dtype='bool');multi_hot(a, 5);"
        "multi_hot(a, 4, axis=0);multi_hot(a, 4, dtype='int32');isin(a, [1, 2]);"
        "isin(a, [1, 2], invert=True);isin(a, [1.5, 2]);isin(a, []);isin(a, 1);"
        "digitize(a, [0.0, 1.0, 2.5]);where(a);take(a, 1);take(a, [0, 2, -1], axis=1);"
        "take(a, [[0, 1]], axis=0);take(a, [3, 5]);take(a, 0, axis=-1);"
        "take(a, [0, 7], axis=1);take(a, [], axis=1);take_along_axis(a, [[0], [1]], axis=1);"
        "take_along_axis(a, [0, 3], axis=None);take_along_axis(a, [[0, 1, 2]], axis=0);"
        "take_along_axis(a, [[-1, 0, -2]], axis=1);slice(a, [0, 1], (2, 2));"
        "slice(a, [0, 2], (2, 2));slice(a, [1, 0], (1, -1));"
        "slice_update(a, [0, 1], [[7], [8]]);slice_update(a, [1, 2], [[7, 8]]);"
        "tensordot(a, [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], axes=1);"
        "matmul(a, [1.0, 2.0, 3.0]);dot(a, [1.0, 2.0, 3.0]);dot(a, 2.5);dot(2, a);"
        "inner(a, [1, 2, 3]);inner(a, 2);outer(a, [1, 2]);vdot(a, [[1, 2, 3], [4, 5, 6]]);"
        "einsum('ij->ji', a);einsum('ij->', a);einsum('ij->i', a);einsum('ij,ij->ij', a, a);"
        "einsum('...j->...', a);einsum('ij', a);einsum('ij,jk', a, [[1.0], [2.0], [3.0]]);"
        "meshgrid(a);meshgrid(a, indexing='ij');psnr(a, 2.0, 1.0);append(a, [1, 2]);"
        "append(a, [[7, 8, 9]], axis=0);concatenate([a, a]);concatenate([a, a], axis=-1);"
        "concatenate([a, [[1, 2, 3]]], axis=0);concatenate([a], axis=1);"
        "concatenate([a, a], axis=2);stack([a, a]);stack([a, a], axis=-1);"
        "stack([a, a], axis=3);stack([a]);hstack([a, a]);vstack([a, a]);dstack([a, a]);"
        "batch_normalization(a, [0.0, 1.0, 2.0], [1.0, 4.0, 9.0], axis=-1);"
        "batch_normalization(a, [0.0, 1.0], [1.0, 4.0], axis=0, epsilon=0.5);"
        "batch_normalization(a, [0.0, 1.0, 2.0], [1.0, 4.0, 9.0], axis=1, offset=[1.0, 2.0, 3.0]);"
        "batch_normalization(a, [0.0, 1.0, 2.0], [1.0, 4.0, 9.0], axis=-1, scale=[1.0, 2.0, 3.0]);"
        "count_nonzero(a, axis=(0, 1));in_top_k([0, 2], a, 1);in_top_k([0, 2], a, 5);"
        "in_top_k([5, 1], a, 2);searchsorted([0.0, 1.0, 2.0], a);"
        "searchsorted([0.0, 1.0, 2.0], a, side='right')",
    (None, 3):
        "reshape(a, (-1,));reshape(a, (-1, 3, 1));reshape(a, (2, 3));reshape(a, (-1, 6));"
        "transpose(a);expand_dims(a, 0);flip(a);flip(a, 1);tile(a, (1, 2));tile(a, (2, 1));"
        "repeat(a, 2);repeat(a, 2, axis=0);repeat(a, [1, 2, 0], axis=1);roll(a, 1);"
        "roll(a, 1, axis=0);roll(a, 1, axis=1);split(a, 2);split(a, [1]);split(a, 3, axis=1);"
        "array_split(a, 2);vsplit(a, 2);hsplit(a, 3);unstack(a, 2);unstack(a);"
        "unstack(a, axis=1);sort(a, axis=0);sort(a, axis=None);argsort(a, axis=None);"
        "top_k(a, 2);diagonal(a);diagonal(a, offset=1);diagonal(a, offset=-1);trace(a);"
        "tril(a);triu(a, k=1);diff(a, axis=0);diff(a);pad(a, [[1, 0], [0, 2]]);"
        "pad(a, [[0, 0], [1, 1]], mode='reflect');pad(a, [[1, 1], [0, 0]], mode='reflect');"
        "pad(a, [[1, 1], [0, 0]], mode='symmetric');squeeze(a);ravel(a);a[0];a[:, 0];a[-1];"
        "a[1:,];a[:-1,];a[::-1,];a[:, None];a[::2,];a[:1,];a[..., -1];a[:5,];"
        "softmax(a, axis=0);softmax(a, axis=None);softmax(a, axis=(0, 1));"
        "log_softmax(a, axis=0);sparsemax(a, axis=0);glu(a, axis=0);normalize(a, axis=0);"
        "norm(a);norm(a, axis=0);norm(a, ord=1);norm(a, ord=2);layer_normalization(a);"
        "layer_normalization(a, axis=0);rms_normalization(a);one_hot(a, 4);"
        "one_hot(a, 4, axis=0);multi_hot(a, 4);isin(a, [1, 2]);where(a);"
        "take(a, [0, 1], axis=0);take(a, [0, 2], axis=1);take(a, [3, 1]);"
        "take_along_axis(a, [[0], [1]], axis=1);take_along_axis(a, [[0, 1, 0]], axis=0);"
        "take_along_axis(a, [0, 3], axis=None);slice(a, [0, 1], (2, 2));"
        "slice_update(a, [0, 1], [[7], [8]]);matmul(a, [1.0, 2.0, 3.0]);"
        "matmul([1.0, 2.0], a);dot(a, [1.0, 2.0, 3.0]);inner(a, [1.0, 2.0, 3.0]);"
        "outer(a, [1.0, 2.0]);vdot(a, [[1, 2, 3], [4, 5, 6]]);einsum('ij->ji', a);"
        "einsum('ij->j', a);meshgrid(a);append(a, [1.0, 2.0]);"
        "append(a, [[7.0, 8.0, 9.0]], axis=0);concatenate([a, a]);"
        "concatenate([a, a], axis=1);stack([a, a]);stack([a, a], axis=1);hstack([a, a]);"
        "vstack([a, a]);dstack([a, a]);broadcast_to(a, (2, 2, 3));broadcast_to(a, (4, 2, 3));"
        "swapaxes(a, 0, 1);moveaxis(a, 0, 1);rot90(a);rot90(a, k=2);fliplr(a);flipud(a);"
        "in_top_k([0, 2], a, 2);searchsorted([0.0, 1.0, 2.0], a);digitize(a, [0.0, 1.0]);"
        "tensordot(a, [1.0, 2.0, 3.0], axes=1);tensordot(a, [1.0, 2.0], axes=[[0], [0]]);"
        "psnr(a, 2.0, 1.0)",
    ():
        "reshape(a, (1,));reshape(a, ());reshape(a, (-1, 1));broadcast_to(a, (2, 2));"
        "transpose(a);expand_dims(a, 0);expand_dims(a, (0, 1));flip(a);flip(a, 0);tile(a, 2);"
        "tile(a, ());repeat(a, 3);repeat(a, 2, axis=0);roll(a, 1);squeeze(a);"
        "squeeze(a, axis=0);ravel(a);sort(a);sort(a, axis=None);argsort(a, axis=None);"
        "argsort(a);a[None,];a[...,];a[()];a[0];softmax(a);softmax(a, axis=None);"
        "normalize(a);norm(a);diff(a);pad(a, 1);pad(a, []);one_hot(a, 3);multi_hot(a, 3);"
        "isin(a, [1, 2]);where(a);take(a, 0);take(a, [0, 0]);matmul(a, a);dot(a, a);"
        "dot(a, [1.0, 2.0]);inner(a, a);outer(a, a);vdot(a, a);meshgrid(a, a);append(a, 2);"
        "concatenate([a, a]);stack([a, a]);hstack([a, a]);vstack([a, a]);dstack([a, a]);"
        "top_k(a, 1);digitize(a, [0.0, 1.0]);searchsorted([0.0, 1.0], a);split(a, 1);"
        "unstack(a);tril(a);einsum('->', a);einsum(',->', a, a);psnr(a, 2.0, 1.0);"
        "count_nonzero(a);layer_normalization(a);tensordot(a, a, axes=0);swapaxes(a, 0, 0);"
        "moveaxis(a, 0, 0);take_along_axis(a, [0], axis=None);trace(a)",
    (3,):
        "matmul(a, a);dot(a, a);inner(a, a);outer(a, a);vdot(a, a);tensordot(a, a, axes=0);"
        "tensordot(a, a, axes=1);hstack([a, a]);vstack([a, a]);dstack([a, a]);hsplit(a, 3);"
        "hsplit(a, [1]);vsplit(a, 3);meshgrid(a, a);meshgrid(a, a, indexing='ij');"
        "meshgrid(a, a, a);tril(a);diagonal(a);append(a, a);append(a, a, axis=0);"
        "append(a, 1);softmax(a);sparsemax(a);one_hot(a, 3);multi_hot(a, 3);top_k(a, 2);"
        "sort(a);argsort(a);take_along_axis(a, [2, 0], axis=0);"
        "take_along_axis(a, [2, 0], axis=-1);norm(a);norm(a, ord=0);"
        "norm(a, ord=float('inf'));norm(a, ord=float('-inf'));norm(a, ord=-2);"
        "norm(a, ord=0.5);norm(a, ord='nuc');a[:2,];a[-1];a[::-1,];a[None, :, None];"
        "pad(a, (2, 1));pad(a, [[2, 2]], mode='reflect');pad(a, [[3, 3]], mode='symmetric');"
        "pad(a, 1, mode='reflect');diff(a, n=3);roll(a, -4);rot90(a);fliplr(a);flipud(a);"
        "unstack(a);trace(a);concatenate([a, [1, 2]]);concatenate([a, [1.5]]);"
        "stack([a, [1, 2, 3]]);normalize(a);searchsorted(a, 2);where(a);repeat(a, [1, 2, 0]);"
        "repeat(a, [1, 2, 0], axis=0)",
    (0, 3):
        "reshape(a, (3, 0));reshape(a, (-1, 3));reshape(a, (0,));reshape(a, -1);transpose(a);"
        "expand_dims(a, 0);flip(a);tile(a, (2, 2));repeat(a, 2);repeat(a, 2, axis=1);"
        "roll(a, 1);roll(a, 1, axis=1);split(a, 3, axis=1);split(a, [1], axis=0);sort(a);"
        "argsort(a, axis=0);top_k(a, 2);tril(a);diagonal(a);trace(a);diff(a);diff(a, axis=0);"
        "pad(a, [[1, 0], [0, 2]]);pad(a, [[1, 1], [0, 0]], mode='reflect');squeeze(a);"
        "a[:, 0];a[0];a[::-1,];softmax(a);softmax(a, axis=0);log_softmax(a);sparsemax(a);"
        "glu(a, axis=0);normalize(a);norm(a);norm(a, axis=0);norm(a, ord=1, axis=1);"
        "norm(a, ord=float('inf'), axis=0);layer_normalization(a);rms_normalization(a);"
        "one_hot(a, 3);multi_hot(a, 3);isin(a, [1]);where(a);take(a, [0, 1], axis=1);"
        "take(a, [0], axis=0);matmul(a, [[1.0], [2.0], [3.0]]);dot(a, [1.0, 2.0, 3.0]);"
        "inner(a, [1.0, 2.0, 3.0]);outer(a, [1.0]);vdot(a, a);einsum('ij->j', a);"
        "einsum('ij,ij->', a, a);append(a, [1.0, 2.0]);concatenate([a, [[1.0, 2.0, 3.0]]]);"
        "concatenate([a, a], axis=1);stack([a, a]);hstack([a, a]);vstack([a, a]);"
        "psnr(a, a, 1.0);digitize(a, [0.0]);searchsorted([0.0, 1.0], a);meshgrid(a, a);"
        "moments(a, axes=[0]);average(a);broadcast_to(a, (2, 0, 3));unstack(a);"
        "unstack(a, axis=1)",
    (2, 1, 2, 1, 3):
        "reshape(a, (2, 6));transpose(a);transpose(a, (4, 0, 2, 1, 3));swapaxes(a, 1, 4);"
        "moveaxis(a, [0, 4], [2, 0]);expand_dims(a, 2);flip(a);flip(a, (0, 2, 4));"
        "tile(a, (1, 2, 1, 2, 1));repeat(a, 2, axis=3);roll(a, 1, axis=4);"
        "rot90(a, axes=(0, 4));split(a, 3, axis=4);sort(a, axis=2);argsort(a);top_k(a, 2);"
        "squeeze(a);squeeze(a, axis=1);squeeze(a, axis=(1, 3));squeeze(a, axis=0);tril(a);"
        "triu(a);diagonal(a, axis1=0, axis2=4);trace(a, axis1=2, axis2=4);diff(a, axis=2);"
        "pad(a, [[0, 0], [1, 1], [0, 0], [0, 1], [0, 0]]);"
        "pad(a, [[1, 1], [0, 0], [1, 1], [0, 0], [2, 2]], mode='reflect');a[:, 0, 1];"
        "a[..., 0, :];a[0, ..., 1];a[:, :, ::-1];softmax(a, axis=2);"
        "softmax(a, axis=(0, 2, 4));sparsemax(a, axis=2);glu(a, axis=2);normalize(a, axis=2);"
        "norm(a);norm(a, axis=(0, 4));norm(a, ord=1, axis=(2, 4));"
        "norm(a, ord=2, axis=(2, 4));layer_normalization(a, axis=(2, 4));"
        "rms_normalization(a, axis=4);one_hot(a, 2, axis=2);take(a, [1, 0], axis=2);"
        "take_along_axis(a, [[[[[0, 1, 0]]]]], axis=2);matmul(a, [[1.0], [2.0], [3.0]]);"
        "dot(a, [1.0, 2.0, 3.0]);inner(a, [1.0, 2.0, 3.0]);einsum('abcde->edcba', a);"
        "einsum('...e->...', a);tensordot(a, a, axes=[[0, 2], [0, 2]]);"
        "concatenate([a, a], axis=3);stack([a, a], axis=5);broadcast_to(a, (2, 2, 2, 1, 3));"
        "ravel(a);unstack(a, axis=4);isin(a, [1, 2]);"
        "slice(a, [0, 0, 1, 0, 1], (2, 1, 1, 1, 2));cumsum(a, axis=2);"
        "batch_normalization(a, [0.0, 1.0, 2.0], [1.0, 4.0, 9.0], axis=-1);dsplit(a, 2);"
        "hstack([a, a]);dstack([a, a])",
}


# Of these, lists of numbers are tensors: constants of the graph.
OF_TENSORS = ("append concatenate digitize dot einsum in_top_k inner matmul outer psnr "
              "searchsorted stack take_along_axis tensordot vdot batch_normalization").split()


def numbers(node):
    if isinstance(node, ast.List):
        return bool(node.elts) and all(map(numbers, node.elts))
    return isinstance(node, (ast.Constant, ast.UnaryOp))


class Arrays(ast.NodeTransformer):
    """Writes lists of numbers as arrays, but for lists of axes."""

    def visit_keyword(self, node):
        return node if node.arg == "axes" else self.generic_visit(node)

    def visit_List(self, node):
        if not numbers(node):
            return self.generic_visit(node)
        return ast.parse(f"np.array({ast.unparse(node)})", mode="eval").body


def with_arrays(code):
    if code.split("(")[0] not in OF_TENSORS:
        return code
    return ast.unparse(Arrays().visit(ast.parse(code, mode="eval")))

"""The data and the network that every variant of this example trains.

Data: scikit-learn's handwritten digits, 1,797 images of 8 x 8 pixels, scaled to [0, 1]; the last 360
images of a fixed shuffle are the test set. Network: 64 -> 64 (tanh) -> 10 (softmax), cross-entropy.
"""
import numpy as np
from sklearn.datasets import load_digits

TEST_IMAGES = 360


def load():
    """Returns (train_x [1437, 64], train_y [1437], test_x [360, 64], test_y [360])."""
    data = load_digits()
    order = np.random.default_rng(7).permutation(len(data.target))
    x = (data.data / 16.0)[order]
    y = data.target[order]
    return x[:-TEST_IMAGES], y[:-TEST_IMAGES], x[-TEST_IMAGES:], y[-TEST_IMAGES:]


def shard(x, y, rank, size):
    """The part of rank `rank`: every size-th image, all shards of one length."""
    length = len(y) // size
    return x[rank::size][:length], y[rank::size][:length]


class Network:
    """Parameters live in one flat vector, so that one allreduce averages all gradients."""

    shapes = [(64, 64), (64,), (64, 10), (10,)]

    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        parts = [rng.normal(0, 1 / np.sqrt(s[0]), s).ravel() if len(s) == 2 else np.zeros(s)
                 for s in self.shapes]
        self.flat = np.concatenate(parts)

    def views(self, flat):
        out, at = [], 0
        for shape in self.shapes:
            n = int(np.prod(shape))
            out.append(flat[at:at + n].reshape(shape))
            at += n
        return out

    def forward(self, x):
        w1, b1, w2, b2 = self.views(self.flat)
        hidden = np.tanh(x @ w1 + b1)
        logits = hidden @ w2 + b2
        exps = np.exp(logits - logits.max(axis=1, keepdims=True))
        return hidden, exps / exps.sum(axis=1, keepdims=True)

    def gradient(self, x, y):
        """Returns (mean cross-entropy, its gradient as one flat vector)."""
        _, _, w2, _ = self.views(self.flat)
        hidden, probabilities = self.forward(x)
        n = len(y)
        loss = -np.log(probabilities[np.arange(n), y] + 1e-12).mean()
        delta = probabilities.copy()
        delta[np.arange(n), y] -= 1
        delta /= n
        back = (delta @ w2.T) * (1 - hidden ** 2)
        parts = [x.T @ back, back.sum(0), hidden.T @ delta, delta.sum(0)]
        return loss, np.concatenate([p.ravel() for p in parts])

    def accuracy(self, x, y):
        return float((self.forward(x)[1].argmax(axis=1) == y).mean())

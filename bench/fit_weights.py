"""Fits the weights of src/tally/weights.h (src/tally/weigh.h says what they mean).

Every line of a version costs what speaks against it; the weights are chosen so that the
chance of the faulty line, e^-cost over the sum of that of all lines, is high: the mean of
its logarithm over the faults, with a share LUCK for pure luck so that hopeless faults do
not decide. Gradient descent (Adam) from the same start every time; no weight that says
that evidence is good may turn negative. bench/default-method --fit calls this.
"""
import math

import numpy

LUCK = 0.02
STEPS, RATE, DECAY = 150, 0.12, 0.01
KINDS = ("line", "condition", "equal", "comparison", "stored", "pair")
TERMS = ("failing", "passing", "passing_log", "others")
LINES = ("slice", "death", "steps")
NAMES = TERMS + KINDS[1:] + LINES  # "line" is 0: only differences matter
START = dict(zip(NAMES, (30, 10, 0.3, 3) + 5 * (0.3,) + 3 * (0.1,)))


class Table:
    """What speaks against the lines of one version, as numbers from 0 to 1: `rows` of
    the evidence (those of line i from starts[i] on), `lines` of the lines."""

    def __init__(self, version, without):
        rows, self.starts, lines = [], [], []
        self.faulty = numpy.array([s in version.fault for s in version.executed])
        for s in version.executed:
            self.starts.append(len(rows))
            rows += [self.row(version, kind, shares, without)
                     for kind, shares in version.evidence(s)
                     if kind not in without]
            lines.append([0 if name in without else share for name, share in
                          zip(LINES, version.against_line(s))])
        self.rows, self.lines = numpy.array(rows), numpy.array(lines)

    @staticmethod
    def row(version, kind, shares, without):
        terms = [0 if t in without else x for t, x in zip(TERMS, shares)]
        if "equal as others" in without and kind == "equal":
            kind = "comparison"
        return terms + [float(kind == k) for k in KINDS[1:]]

    def costs(self, weights):
        n = self.rows.shape[1]
        return (numpy.minimum.reduceat(self.rows @ weights[:n], self.starts)
                + self.lines @ weights[n:])


class Pack:
    """The tables of many versions, end to end."""

    def __init__(self, tables):
        tables = [t for t in tables if t.faulty.any()]
        self.rows = numpy.concatenate([t.rows for t in tables])
        self.lines = numpy.concatenate([t.lines for t in tables])
        self.faulty = numpy.concatenate([t.faulty for t in tables])
        before = numpy.cumsum([0] + [len(t.rows) for t in tables])
        self.starts = numpy.concatenate(
            [numpy.array(t.starts) + b for t, b in zip(tables, before)])
        self.sizes = numpy.array([len(t.lines) for t in tables])
        self.first = numpy.cumsum(self.sizes) - self.sizes
        self.version = numpy.repeat(numpy.arange(len(tables)), self.sizes)
        ends = numpy.append(self.starts, len(self.rows))
        self.line = numpy.repeat(numpy.arange(len(self.lines)), numpy.diff(ends))

    def gradient(self, weights):
        n = self.rows.shape[1]
        costs = self.rows @ weights[:n]
        least = numpy.minimum.reduceat(costs, self.starts)
        line = least + self.lines @ weights[n:]
        best = numpy.minimum.reduceat(line, self.first)
        chance = numpy.exp(best[self.version] - line)
        chance /= numpy.add.reduceat(chance, self.first)[self.version]
        right = numpy.add.reduceat(chance * self.faulty, self.first)
        sure = (1 - LUCK) * right / ((1 - LUCK) * right + LUCK / self.sizes)
        pull = (chance - chance * self.faulty
                / numpy.maximum(right, 1e-300)[self.version]) * sure[self.version]
        speaks = costs <= least[self.line] + 1e-12
        share = speaks / numpy.add.reduceat(speaks.astype(float),
                                            self.starts)[self.line]
        return -numpy.concatenate([self.rows.T @ (share * pull[self.line]),
                                   self.lines.T @ pull]) / len(self.sizes)


def fit(tables):
    """The weights, by name."""
    pack = Pack(tables)
    x = numpy.array([float(START[n]) for n in NAMES])
    free = numpy.array([n in KINDS for n in NAMES])
    decay = DECAY * numpy.array([1 if n in LINES else 0.02 for n in NAMES])
    mean, square = numpy.zeros_like(x), numpy.zeros_like(x)
    for step in range(1, STEPS + 1):
        g = pack.gradient(x) + decay * x
        mean, square = 0.9 * mean + 0.1 * g, 0.99 * square + 0.01 * g * g
        x -= (RATE * mean / (1 - 0.9 ** step)
              / (numpy.sqrt(square / (1 - 0.99 ** step)) + 1e-8))
        x = numpy.where(free, x, numpy.maximum(x, 0))
    return x


def named(weights):
    """As in weights.h: the cheapest kind costs nothing; two decimals."""
    out = dict(zip(NAMES, weights))
    kinds = {k: out.get(k, 0.0) for k in KINDS}
    least = min(kinds.values())
    out.update({k: w - least for k, w in kinds.items()})
    return {k: math.floor(100 * w + 0.5) / 100 for k, w in out.items()}

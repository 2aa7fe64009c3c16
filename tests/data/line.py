"""Makes line.csv: Gaussian processes on a line, solved by tinygp.

Made with tinygp 0.3.1, jax 0.10.2 (64 bits) and NumPy 2.4.6; run it in this
folder to make it anew. 60 points in no order, two of them twice, noise of
several sizes, no bias, variance of the function 1. For each kernel (scale lengths
0.4, and for the sum 2 and 0.4 with variances 1 and 0.25) tinygp's quasiseparable
solver, which is not by recursions of ours, gives

mean, deviation  of the function at the points `at`, given the samples;
log              the logarithm of the likelihood (the same in all rows).
"""

import csv
import jax

jax.config.update("jax_enable_x64", True)

import jax.numpy as jnp
import numpy
from tinygp import GaussianProcess
from tinygp.kernels import quasisep

N, LAMBDA = 60, 0.05

random = numpy.random.default_rng(7)
x = random.uniform(0, 10, N)
x[10], x[20] = x[11], x[21]
s = random.uniform(0.5, 2, N)
y = numpy.sin(x) + 0.2 * s * random.standard_normal(N)
at = random.uniform(-1, 11, N)
order = numpy.argsort(x, kind="stable")

kernels = {
    "matern12": quasisep.Exp(scale=0.4),
    "matern32": quasisep.Matern32(scale=0.4),
    "matern52": quasisep.Matern52(scale=0.4),
    "sum": quasisep.Matern52(scale=2.0) + quasisep.Matern32(scale=0.4, sigma=0.5),
}
columns = {"x": x, "s": s, "y": y, "at": at}
for name, kernel in kernels.items():
    gp = GaussianProcess(kernel, jnp.array(x[order]), diag=LAMBDA * s[order] ** 2)
    ends = jnp.argsort(jnp.array(at))
    # Without `diag` tinygp adds 1.5e-8 to the variances.
    log, conditioned = gp.condition(jnp.array(y[order]), jnp.array(at)[ends], diag=0.0)
    mean, deviation = numpy.empty(N), numpy.empty(N)
    mean[ends] = conditioned.loc
    deviation[ends] = numpy.sqrt(conditioned.variance)
    columns |= {f"{name}_mean": mean, f"{name}_deviation": deviation}
    columns[f"{name}_log"] = numpy.full(N, float(log))

with open("line.csv", "w", newline="") as file:
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(columns)
    for row in zip(*columns.values()):
        writer.writerow(repr(float(value)) for value in row)

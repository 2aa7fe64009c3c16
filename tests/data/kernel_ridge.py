"""Makes kernel_ridge.csv: ridge regressions solved by scikit-learn.

Made with scikit-learn 1.9.1 and NumPy 2.4.6; run it in this folder to make it
anew. 40 points in the plane, a Gaussian kernel exp(-|a-b|^2 / sigma^2) with
sigma = 0.7, lambda = 0.3. The models, each with the function at the points:

rkhs_free  lambda alpha^T K alpha, no bias: KernelRidge as it is.
l2_free    lambda |alpha|^2, no bias: the kernel is K K, and alpha = K dual.
l2         lambda |alpha|^2 + lambda c^2: the kernel is K K + 1 1^T.
rkhs       lambda alpha^T K alpha and a bias that costs nothing: Ridge with an
           intercept on features F with F F^T = K.
"""

import numpy
import sklearn
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge

SIGMA, LAMBDA, N = 0.7, 0.3, 40

random = numpy.random.default_rng(1)
x = random.uniform(-1, 1, (N, 2))
y = 3 + numpy.sin(3 * x[:, 0]) * x[:, 1] + 0.1 * random.standard_normal(N)


def precomputed(kernel):
    model = KernelRidge(alpha=LAMBDA, kernel="precomputed").fit(kernel, y)
    return model.dual_coef_, model.predict(kernel)


plain = KernelRidge(alpha=LAMBDA, kernel="rbf", gamma=SIGMA**-2).fit(x, y)
k = numpy.exp(-((x[:, None] - x[None]) ** 2).sum(2) / SIGMA**2)
free_dual, free = precomputed(k @ k)
dual, with_bias = precomputed(k @ k + 1)

values, vectors = numpy.linalg.eigh(k)
features = vectors * numpy.sqrt(values.clip(0))
intercept = Ridge(alpha=LAMBDA, solver="svd", tol=0).fit(features, y)

columns = {
    "x1": x[:, 0],
    "x2": x[:, 1],
    "y": y,
    "rkhs_free_alpha": plain.dual_coef_,
    "rkhs_free": plain.predict(x),
    "l2_free_alpha": k @ free_dual,
    "l2_free": free,
    "l2_alpha": k @ dual,
    "l2": with_bias,
    "l2_bias": numpy.full(N, dual.sum()),
    "rkhs": intercept.predict(features),
    "rkhs_bias": numpy.full(N, intercept.intercept_),
}
header = ",".join(columns)
rows = numpy.column_stack(list(columns.values()))
numpy.savetxt("kernel_ridge.csv", rows, "%.17g", ",", header=header, comments="")
print("scikit-learn", sklearn.__version__, "NumPy", numpy.__version__)

"""What others do with a series: celerite2, statsmodels and a Hampel filter.

`line_rivals.py SERIES.csv...`, with the columns x, y, truth and wrong, from short to long,
prints a row of a table for each series and method. The numbers of each are those that are best, by the truth, at n = 10^4 of
what is listed here: an advantage over a method that is given nothing. Each method has
LIMIT seconds of the processor; one that takes longer is said to, and so is one that would
if it took time in proportion to n.
"""

import resource
import subprocess
import sys
import time
import warnings

import numpy as np

LIMIT = 120
# Deviations of the residuals beyond which a sample is an outlier: the best of 3, 3.5 and 4.
BEYOND = 4
# Points in a window of LOWESS: the least error of 10, 15, 20, 30 and 40.
LOWESS_POINTS = 15


def beyond(residual):
    """Samples whose residual is beyond its robust deviation."""
    centre = np.nanmedian(residual)
    scale = 1.4826 * np.nanmedian(np.abs(residual - centre))
    return np.abs(residual - centre) > BEYOND * scale


def hampel(x, y, half):
    """With the median of a sample and `half` of them on each side."""
    from scipy.ndimage import median_filter

    size = 2 * half + 1
    median = median_filter(y, size, mode="nearest")
    spread = 1.4826 * median_filter(np.abs(y - median), size, mode="nearest")
    wrong = np.abs(y - median) > BEYOND * spread
    # What is left is smoothed by the mean of the same window: better than the median.
    cleaned = np.where(wrong, median, y)
    kernel = np.ones(size) / size
    padded = np.pad(cleaned, half, mode="edge")
    return np.convolve(padded, kernel, mode="valid"), wrong


def lowess(x, y):
    from statsmodels.nonparametric.smoothers_lowess import lowess

    fitted = lowess(y, x, frac=LOWESS_POINTS / len(x), it=3, is_sorted=True, return_sorted=False)
    return fitted, beyond(y - fitted)


def components(x, y):
    """A smooth trend in noise; outliers leave, and it is fitted once more."""
    from statsmodels.tsa.statespace.structural import UnobservedComponents

    def fit(y):
        model = UnobservedComponents(y, "local linear trend")
        return model.fit(disp=False).smoothed_state[0]

    wrong = beyond(y - fit(y))
    return fit(np.where(wrong, np.nan, y)), wrong


def celerite(x, y):
    """One solve with the kernel of the truth; it knows of no outliers."""
    import celerite2

    term = celerite2.terms.Matern32Term(sigma=1.0, rho=1.0)
    process = celerite2.GaussianProcess(term, mean=0.0)
    process.compute(x, diag=np.full(len(x), 0.1))
    return process.predict(y), None


METHODS = {
    "celerite2, one solve with the true kernel": celerite,
    # Half windows of 2, 3, 5, 7, 10 and 15 samples: the least error, and the best F1 but one.
    "Hampel filter, 11 samples": lambda x, y: hampel(x, y, 5),
    "Hampel filter, 21 samples": lambda x, y: hampel(x, y, 10),
    "robust LOWESS": lowess,
    "UnobservedComponents": components,
}


def run(path, name):
    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT))
    x, y, truth, wrong = np.loadtxt(path, delimiter=",", skiprows=1, unpack=True)
    # What is imported is not timed.
    METHODS[name](x[:50], y[:50])
    start = time.process_time()
    fitted, found = METHODS[name](x, y)
    seconds = time.process_time() - start
    rmse = np.sqrt(np.mean((fitted - truth) ** 2))
    cells = ["", "", ""]
    if found is not None:
        right = np.sum(found & (wrong > 0))
        precision, recall = right / max(np.sum(found), 1), right / np.sum(wrong > 0)
        f1 = 2 * precision * recall / max(precision + recall, 1e-300)
        cells = [f"{value:.4f}" for value in (precision, recall, f1)]
    print(f"| {len(x)} | {name} | {seconds:.2f} | {' | '.join(cells)} | {rmse:.4f} |")


def main():
    if sys.argv[1] == "--one":
        return run(*sys.argv[2:])
    known = {}
    for path in sys.argv[1:]:
        with open(path) as file:
            n = sum(1 for _ in file) - 1
        for name in METHODS:
            row = f"| {n} | {name} | over {LIMIT} | | | | |"
            before, seconds = known.get(name, (n, 0.0))
            if seconds * n / before <= LIMIT:
                command = [sys.executable, __file__, "--one", path, name]
                done = subprocess.run(command, capture_output=True, text=True)
                if done.returncode > 0:
                    sys.exit(f"{name} failed: {done.stderr}")
                # Below zero: ended by the limit.
                seconds = LIMIT
                if done.returncode == 0:
                    row = done.stdout.strip()
                    seconds = float(row.split("|")[3])
                known[name] = (n, seconds)
            print(row, flush=True)


if __name__ == "__main__":
    main()

"""Figures of scikit-image for tests/library/metrics.rs: writes metrics.csv beside it.

Made with scikit-image 0.26.0 and numpy 2.4.6:  python tests/data/metrics.py

The planes are made of integers by a formula that the test repeats, so that only
the figures are stored. SSIM is that of Wang et al. (2004), as scikit-image's
documentation says it is to be called; it crops the border itself.
"""

import csv
import pathlib

import numpy as np
from skimage.metrics import peak_signal_noise_ratio, structural_similarity

# width, height, peak, noise
CASES = [
    (11, 11, 255, 20),
    (12, 17, 255, 3),
    (64, 48, 255, 40),
    (64, 48, 255, 400),
    (33, 90, 65535, 5000),
    (200, 13, 65535, 60),
]


def planes(width, height, peak, noise):
    x, y = np.meshgrid(np.arange(width), np.arange(height))
    clean = (x * 7 + y * 13 + (x * y) % 31 * 5) * (peak // 255) % (peak + 1)
    scatter = (x * 7919 + y * 104729 + x * y * 31) % (2 * noise + 1) - noise
    return clean, np.clip(clean + scatter, 0, peak)


here = pathlib.Path(__file__).parent
with open(here / "metrics.csv", "w", newline="") as file:
    out = csv.writer(file, lineterminator="\n")
    out.writerow(["width", "height", "peak", "noise", "psnr", "ssim"])
    for case in CASES:
        clean, noisy = (plane.astype(float) for plane in planes(*case))
        psnr = peak_signal_noise_ratio(clean, noisy, data_range=case[2])
        ssim = structural_similarity(
            clean,
            noisy,
            data_range=case[2],
            gaussian_weights=True,
            sigma=1.5,
            use_sample_covariance=False,
        )
        out.writerow([*case, repr(float(psnr)), repr(float(ssim))])

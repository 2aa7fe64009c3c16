//! The weights of the networks, from the file that `cargo xtask train` writes.
//!
//! `models/classifier.bin` has nothing but numbers: `f32`, little-endian, the table of the small
//! network and then that of the large one. `models/classifier.toml` says what they were learned
//! from.

/// The inputs: differences to the eight pixels next to the candidate and to the sixteen around
/// these, each sorted; to the 48 around in their places; the noise and the share of impulses.
pub(crate) const INPUTS: usize = 74;
/// The hidden units of both layers of the small network, and of the large one.
pub(crate) const SMALL: (usize, usize) = (16, 8);
pub(crate) const LARGE: (usize, usize) = (128, 32);

/// How many numbers the table of a network has. For each layer, the output among them: for each
/// input the weights of all units, then the biases of the units.
pub(crate) const fn numbers((first, second): (usize, usize)) -> usize {
    (INPUTS + 1) * first + (first + 1) * second + second + 1
}

static FILE: &[u8; 4 * (numbers(SMALL) + numbers(LARGE))] =
    include_bytes!("../../../../models/classifier.bin");

pub(crate) static OF_SMALL: [f32; numbers(SMALL)] = read(0);
pub(crate) static OF_LARGE: [f32; numbers(LARGE)] = read(numbers(SMALL));

/// `N` numbers of the file, from the one at `first`.
const fn read<const N: usize>(first: usize) -> [f32; N] {
    let mut table = [0.0; N];
    let mut i = 0;
    while i < N {
        let at = 4 * (first + i);
        table[i] = f32::from_le_bytes([FILE[at], FILE[at + 1], FILE[at + 2], FILE[at + 3]]);
        i += 1;
    }
    table
}

//! SHA-256 (FIPS 180-4), as hexadecimal digits.

/// The first 32 bits of the fractional parts of roots of primes: square roots of the first eight,
/// cube roots of the first 64.
fn of_roots(count: usize, root: impl Fn(f64) -> f64) -> Vec<u32> {
    let is_prime = |n: u32| (2..n).take_while(|d| d * d <= n).all(|d| !n.is_multiple_of(d));
    let primes = (2..).filter(|&n| is_prime(n)).take(count);
    primes.map(|p| (root(f64::from(p)).fract() * 4_294_967_296.0) as u32).collect()
}

/// The hash of some bytes.
pub fn sha256(bytes: &[u8]) -> String {
    let k = of_roots(64, f64::cbrt);
    let mut hash = of_roots(8, f64::sqrt);
    let mut padded = bytes.to_vec();
    padded.push(0x80);
    padded.resize((padded.len() + 8).next_multiple_of(64) - 8, 0);
    padded.extend(8_u64.wrapping_mul(bytes.len() as u64).to_be_bytes());
    for block in padded.chunks_exact(64) {
        let mut w: Vec<u32> =
            block.chunks_exact(4).map(|b| u32::from_be_bytes([b[0], b[1], b[2], b[3]])).collect();
        for t in 16..64 {
            let (a, b) = (w[t - 15], w[t - 2]);
            let first = a.rotate_right(7) ^ a.rotate_right(18) ^ (a >> 3);
            let second = b.rotate_right(17) ^ b.rotate_right(19) ^ (b >> 10);
            w.push(w[t - 16].wrapping_add(first).wrapping_add(w[t - 7]).wrapping_add(second));
        }
        let mut v = hash.clone();
        for t in 0..64 {
            let (a, e) = (v[0], v[4]);
            let choice = (e & v[5]) ^ (!e & v[6]);
            let majority = (a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]);
            let first = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
            let second = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
            let new = [first, choice, k[t], w[t]].iter().fold(v[7], |sum, &x| sum.wrapping_add(x));
            v.rotate_right(1);
            v[4] = v[4].wrapping_add(new);
            v[0] = new.wrapping_add(second).wrapping_add(majority);
        }
        for (hash, v) in hash.iter_mut().zip(v) {
            *hash = hash.wrapping_add(v);
        }
    }
    hash.iter().map(|word| format!("{word:08x}")).collect()
}

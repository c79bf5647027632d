# Random numbers of compiled loops: xoshiro256+ [Blackman and Vigna, 2018], whose state is four integers.

cimport cython
from libc.math cimport exp, fabs, floor, lgamma, log, log1p, sqrt
from libc.stdint cimport int64_t, uint64_t


@cython.overflowcheck(False)
cdef inline double uniform(uint64_t[::1] state) noexcept nogil:
    """A number in (0, 1)."""
    cdef uint64_t s0 = state[0], s1 = state[1], s2 = state[2], s3 = state[3]
    cdef uint64_t result = s0 + s3
    cdef uint64_t t = s1 << 17
    s2 ^= s0
    s3 ^= s1
    s1 ^= s2
    s0 ^= s3
    s2 ^= t
    state[0], state[1], state[2], state[3] = s0, s1, s2, (s3 << 45) | (s3 >> 19)
    return (<double> (result >> 11) + 0.5) * 1.1102230246251565e-16


cdef inline int64_t binomial(uint64_t[::1] state, int64_t n, double p) noexcept nogil:
    """How many of n trials succeed: by inversion where few do, else by transformed rejection (BTRS) [Hörmann, 1993]."""
    cdef double q, chance, spread, a, b, u, v, inside, k, mode
    if p <= 0.0 or n <= 0:
        return 0
    if p >= 1.0:
        return n
    if p > 0.5:
        return n - binomial(state, n, 1.0 - p)
    q = 1.0 - p
    if n * p < 10.0:
        u, chance, k = uniform(state), exp(n * log1p(-p)), 0.0
        while u > chance and k < n:
            u -= chance
            k += 1.0
            chance *= (n - k + 1.0) * p / (k * q)
        return <int64_t> k
    spread, mode = sqrt(n * p * q), floor((n + 1) * p)
    b = 1.15 + 2.53 * spread
    a = -0.0873 + 0.0248 * b + 0.01 * p
    while True:
        v, u = uniform(state), uniform(state) - 0.5
        inside = 0.5 - fabs(u)
        k = floor((2.0 * a / inside + b) * u + n * p + 0.5)
        if inside >= 0.07 and v <= 0.92 - 4.2 / b:
            return <int64_t> k
        if k < 0.0 or k > n:
            continue
        v = log(v * (2.83 + 5.1 / b) * spread / (a / (inside * inside) + b))
        if v <= (
            lgamma(mode + 1.0) + lgamma(n - mode + 1.0) - lgamma(k + 1.0) - lgamma(n - k + 1.0)
            + (k - mode) * log(p / q)
        ):
            return <int64_t> k

# Random variates that compiled loops draw: xoshiro256+ [Blackman and Vigna, 2018] and what is made of it.
cimport cython
from libc.math cimport INFINITY, exp, fabs, floor, lgamma, log, log1p, sqrt
from libc.stdint cimport int64_t, uint64_t


@cython.overflowcheck(False)
cdef inline double uniform(uint64_t* state) noexcept nogil:
    """A number between 0 and 1, neither of which it is."""
    cdef uint64_t result = state[0] + state[3]
    cdef uint64_t shifted = state[1] << 17
    state[2] ^= state[0]
    state[3] ^= state[1]
    state[1] ^= state[2]
    state[0] ^= state[3]
    state[2] ^= shifted
    state[3] = (state[3] << 45) | (state[3] >> 19)
    return (<double>(result >> 11) + 0.5) * 1.1102230246251565e-16


cdef inline double normal(uint64_t* state) noexcept nogil:
    """By the ratio of uniform variates, with the quick tests of Leva [1992]: a logarithm for one in eighty."""
    cdef double u, v, x, y, q
    while True:
        u = uniform(state)
        v = 1.7156 * (uniform(state) - 0.5)
        x = u - 0.449871
        y = fabs(v) + 0.386595
        q = x * x + y * (0.19600 * y - 0.25472 * x)
        if q < 0.27597 or (q < 0.27846 and v * v <= -4.0 * log(u) * u * u):
            return v / u


cdef inline double log_gamma(double shape, uint64_t* state) noexcept nogil:
    """The logarithm of a gamma variate [Marsaglia and Tsang, 2000], which a small shape cannot make underflow."""
    cdef double boost = 0.0
    cdef double d, c, x, v, u
    if shape < 1.0:
        boost = log(uniform(state)) / shape
        shape += 1.0
    d = shape - 1.0 / 3.0
    c = 1.0 / sqrt(9.0 * d)
    while True:
        x = normal(state)
        v = 1.0 + c * x
        v = v * v * v
        if v > 0.0:
            u = uniform(state)
            if u < 1.0 - 0.0331 * x * x * x * x or log(u) < 0.5 * x * x + d - d * v + d * log(v):
                return log(d * v) + boost


cdef inline void dirichlet(double* shapes, double* out, Py_ssize_t n, uint64_t* state) noexcept nogil:
    cdef Py_ssize_t k
    cdef double highest = -INFINITY
    cdef double total = 0.0
    for k in range(n):
        out[k] = log_gamma(shapes[k], state)
        highest = max(highest, out[k])
    for k in range(n):
        out[k] = exp(out[k] - highest)
        total += out[k]
    for k in range(n):
        out[k] = max(out[k] / total, 1e-300)


cdef inline int64_t binomial(int64_t n, double p, uint64_t* state) noexcept nogil:
    """How many of n trials succeed: by inversion where few do, else by transformed rejection (BTRS) [Hörmann, 1993]."""
    cdef double q, chance, spread, a, b, u, v, inside, k, mode
    if p <= 0.0 or n <= 0:
        return 0
    if p >= 1.0:
        return n
    if p > 0.5:
        return n - binomial(n, 1.0 - p, state)
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

# Logarithms of rising factorials, log a(a+1)…(a+n-1), and their derivatives with respect to a.
from libc.math cimport floor, lgamma, log


cdef inline double digamma(double x) noexcept nogil:
    cdef double total = 0.0
    cdef double square
    while x < 8.0:
        total -= 1.0 / x
        x += 1.0
    square = 1.0 / (x * x)
    return total + log(x) - 0.5 / x - square * (
        1.0 / 12.0 - square * (1.0 / 120.0 - square * (1.0 / 252.0 - square * (1.0 / 240.0 - square / 132.0)))
    )


cdef inline double rising(double a, double n, double* derivative, double* logarithm) noexcept nogil:
    # A factor of it, the logarithm of the rest being added to `logarithm`: products of many need one logarithm.
    cdef double product = 1.0
    cdef double slope = 0.0
    cdef Py_ssize_t i
    if n <= 8.0 and n == floor(n):
        for i in range(<Py_ssize_t> n):
            product *= a + i
            slope += 1.0 / (a + i)
        derivative[0] = slope
        return product
    derivative[0] = digamma(a + n) - digamma(a)
    logarithm[0] += lgamma(a + n) - lgamma(a)
    return 1.0


cdef inline double log_rising(double a, double n, double* derivative) noexcept nogil:
    cdef double logarithm = 0.0
    return log(rising(a, n, derivative, &logarithm)) + logarithm

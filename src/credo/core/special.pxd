# Logarithms of rising factorials, log a(a+1)…(a+n-1), and their derivatives with respect to a.
from libc.math cimport floor, log


cdef inline double log_gamma_at(double x, double* slope) noexcept nogil:
    # log Γ(x) and its derivative for x of at least eight, by Stirling's series.
    cdef double inverse = 1.0 / x
    cdef double square = inverse * inverse
    cdef double logarithm = log(x)
    slope[0] = logarithm - 0.5 * inverse - square * (
        1.0 / 12.0 - square * (1.0 / 120.0 - square * (1.0 / 252.0 - square * (1.0 / 240.0 - square / 132.0)))
    )
    return (x - 0.5) * logarithm - x + 0.9189385332046728 + inverse * (
        1.0 / 12.0 - square * (1.0 / 360.0 - square * (1.0 / 1260.0 - square * (1.0 / 1680.0 - square / 1188.0)))
    )


cdef inline double rising(double a, double n, double* derivative, double* logarithm) noexcept nogil:
    # A factor of it, the logarithm of the rest being added to `logarithm`: products of many need one logarithm.
    cdef double product = 1.0
    cdef double change = 0.0  # the derivative of the product
    cdef double above = 0.0
    cdef double below = 0.0
    cdef double end = a + n
    cdef double over = 1.0
    cdef double change_over = 0.0
    cdef Py_ssize_t i
    if n <= 8.0 and n == floor(n):
        for i in range(<Py_ssize_t> n):
            change = change * (a + i) + product
            product *= a + i
        derivative[0] = change / product if product > 0.0 else 0.0
        return product
    while a < 8.0:
        change = change * a + product
        product *= a
        a += 1.0
    while end < 8.0:
        change_over = change_over * end + over
        over *= end
        end += 1.0
    logarithm[0] += log_gamma_at(end, &above) - log_gamma_at(a, &below)
    derivative[0] = above - below + change / product - change_over / over
    return product / over


cdef inline double log_rising(double a, double n, double* derivative) noexcept nogil:
    cdef double logarithm = 0.0
    return log(rising(a, n, derivative, &logarithm)) + logarithm

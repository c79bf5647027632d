from libc.stdint cimport int64_t


cdef double SMALLEST_PIVOT, PIVOT_INSTEAD


cdef class DenseFactors:
    cdef Py_ssize_t size
    cdef double[:, ::1] matrix  # in: the lower triangle of A; out: below the diagonal, L
    cdef double[::1] signs, inverse_diagonal
    cdef double[:, ::1] panel

    cdef void factorise(self) noexcept nogil
    cdef void eliminate(self, Py_ssize_t start, Py_ssize_t width, Py_ssize_t first, Py_ssize_t last) noexcept nogil
    cdef void solve(self, double[::1] vector, Py_ssize_t first) noexcept nogil


cdef class SparseFactors:
    cdef Py_ssize_t size, positive, tail
    # The upper triangle of A by columns, in elimination order, diagonal last
    cdef const int64_t[::1] order
    cdef int64_t[::1] column_starts, numbers, diagonal_at, parent
    cdef double[::1] entries
    # Where each pair of `analyse` went
    cdef int64_t[::1] entry_at
    # L by columns and 1/D; the tail of L is dense
    cdef int64_t[::1] factor_starts, factor_numbers
    cdef double[::1] factor_entries, inverse_diagonal
    cdef DenseFactors dense
    # work
    cdef int64_t[::1] pattern, stack, mark, filled
    cdef double[::1] work, permuted

    cdef void factorise(self, double[::1] diagonal) noexcept nogil
    cdef void solve(self, double[::1] right, double[::1] solution) noexcept nogil

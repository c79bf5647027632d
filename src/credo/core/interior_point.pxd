from libc.stdint cimport int64_t, uint8_t

from credo.core.block_program cimport BlockProgram
from credo.core.newton_systems cimport NewtonSystem


cdef class InteriorPoint:
    cdef Py_ssize_t iterations
    cdef bint conflicting  # whether multipliers proved that the constraints leave nothing
    cdef double primal, worst_dual, gap, mu  # of the last residuals
    # (parameters,): v is the multiplier of θ ≥ 0
    cdef double[::1] v, dtheta, dv, dual, target_theta, inverse_theta, inverse_v
    # (constraints,)
    cdef double[::1] s, z, ds, dz, values, target_constraint, inverse_s, inverse_z
    # (distributions,)
    cdef double[::1] y, sums
    # (parameters + constraints + distributions,)
    cdef double[::1] diagonal, regular, right, solution, correction, residual

    cdef reserve(self, BlockProgram program)
    cdef bint solve(self, BlockProgram program, NewtonSystem system, bint cautious) noexcept nogil
    cdef void start(self, BlockProgram program, bint cautious) noexcept nogil
    cdef void set_residuals(self, BlockProgram program) noexcept nogil
    cdef void set_diagonal(self, BlockProgram program) noexcept nogil
    cdef void set_direction(
        self, BlockProgram program, NewtonSystem system, double sigma, double curvature, bint refined
    ) noexcept nogil
    cdef double step_length(self, BlockProgram program, double to_boundary) noexcept nogil
    cdef double central_step(self, BlockProgram program, double step, double sigma) noexcept nogil
    cdef double centring(self, BlockProgram program, double step) noexcept nogil
    cdef void advance(self, BlockProgram program, double step) noexcept nogil

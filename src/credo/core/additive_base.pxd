from libc.stdint cimport int32_t, int64_t, uint64_t


cdef class AdditiveBase:
    cdef public Py_ssize_t states, parents, configurations, increments, components, following, unused, coordinates, effects_end
    cdef public bint has_data
    cdef bint all_seen  # by rows: all directions of effects
    cdef int32_t[::1] sizes, first_increment, first_effect, component, sign, seen, known, small
    cdef int32_t[:, ::1] parent_states
    cdef double[::1] scores, strengths, shares, log_shares, centres, spreads, rising, falling, share_centres, share_slopes, responsibility
    cdef double[:, ::1] counts, barred, base, constant
    # coordinates, whose prior is standard normal, and the work of their trajectories
    cdef double[::1] x, gradient, momentum, old, old_gradient, variance, mean, square
    cdef double[:, ::1] effects, g_effects, ratios, directions
    cdef double[::1] total, weight, level, odds, pull, widths
    cdef double[::1] stated
    cdef double least_unseen, share_spread
    cdef double log_step, mean_log_step, adapted
    cdef uint64_t[::1] random
    cdef Py_ssize_t seen_count

    cdef double strength(self, bint known, Py_ssize_t g, Py_ssize_t allowed) noexcept nogil
    cdef double own_strength(self, Py_ssize_t j, Py_ssize_t g, Py_ssize_t allowed) noexcept nogil
    cdef void compute_shares(self) noexcept nogil
    cdef void compute_widths(self) noexcept nogil
    cdef double slope(self, Py_ssize_t p, Py_ssize_t u) noexcept nogil
    cdef void compute_effects(self) noexcept nogil
    cdef void compute_base(self, const int32_t* parent_states, const double* barred, double* out) noexcept nogil
    cdef double configuration_density(self, Py_ssize_t j, bint derive) noexcept nogil
    cdef double density(self) noexcept nogil
    cdef double signs_density(self) noexcept nogil
    cdef bint has_sign(self, Py_ssize_t p, double sign) noexcept nogil
    cdef void run_trajectory(self, bint adapting) noexcept nogil
    cdef void flip_signs(self) noexcept nogil
    cdef void propose_far(self) noexcept nogil
    cdef void redraw_unseen(self) noexcept nogil
    cdef bint is_bound(self, Py_ssize_t p) noexcept nogil
    cdef void differentiate(self, Py_ssize_t j, Py_ssize_t k, double* row) noexcept nogil
    cdef void rescale(self) noexcept nogil
    cdef void slide(self, Py_ssize_t width, double spread, Py_ssize_t first, Py_ssize_t last) noexcept nogil

    cdef double redraw(self, Py_ssize_t first, Py_ssize_t last) noexcept nogil
    cdef Py_ssize_t draw_component(self, Py_ssize_t j) noexcept nogil
    cdef Py_ssize_t draw_prior_component(self) noexcept nogil
    cdef void draw_dirichlet(self, const double* base, Py_ssize_t g, Py_ssize_t j, double* out) noexcept nogil
    cdef Py_ssize_t first_width(self, Py_ssize_t kind) noexcept nogil
    cdef Py_ssize_t width_count(self, Py_ssize_t kind) noexcept nogil
    cdef void draw_anew(self, const int32_t* parent_states, double* out) noexcept nogil

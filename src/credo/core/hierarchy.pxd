from libc.stdint cimport int32_t, int64_t, uint64_t

from credo.core.boundaries cimport Boundaries


cdef class FamilyChain:
    cdef public Py_ssize_t states, parents, configurations, increments, components
    cdef int32_t[::1] sizes, first_increment, first_effect, component, sign, link_starts, links, chosen
    cdef int32_t[:, ::1] parent_states
    cdef double[::1] scores, information, intercept, slopes, log_widths, component_widths, shares, centres, spreads
    cdef double[:, ::1] counts, barred, rests, deviations
    # work
    cdef double[:, ::1] effects, theta, logs, shifted, pull, push
    cdef double[::1] weights, mass_slopes, mass_rests, mass_deviations, base
    cdef double mass_intercept
    cdef double[::1] g_intercept, g_slopes, m_intercept, m_slopes, n_intercept, n_slopes, old_intercept, old_slopes
    cdef double[:, ::1] g_effects, g_rests, g_deviations, m_rests, m_deviations, n_rests, n_deviations
    cdef double[:, ::1] old_rests, old_shifted
    cdef uint64_t[::1] random
    cdef Boundaries boundaries
    cdef bint bounded
    cdef Py_ssize_t first_distribution
    cdef Py_ssize_t first_cell

    cdef void compute_effects(self) noexcept nogil
    cdef void compute_base(self, Py_ssize_t j) noexcept nogil
    cdef double softmax(self, Py_ssize_t j) noexcept nogil
    cdef double log_likelihood(self) noexcept nogil
    cdef double variance(self, Py_ssize_t j) noexcept nogil
    cdef double place(self) noexcept nogil
    cdef double log_likelihood_here(self) noexcept nogil
    cdef void pull_back(self, bint normal) noexcept nogil
    cdef double gradient(self) noexcept nogil
    cdef void set_masses(self) noexcept nogil
    cdef double draw_centred(self, double* out, double mass) noexcept nogil
    cdef double begin(self) noexcept nogil
    cdef void restore(self) noexcept nogil
    cdef void kick(self, double time) noexcept nogil
    cdef void drift(self, double time) noexcept nogil
    cdef double kinetic(self) noexcept nogil
    cdef Py_ssize_t slope_crossing(self, double* time) noexcept nogil
    cdef void set_normal(self, double* slope) noexcept nogil
    cdef void normal_products(self, double* speed, double* norm) noexcept nogil
    cdef void reflect(self, double factor) noexcept nogil
    cdef double width_prior(self, Py_ssize_t g, double t) noexcept nogil
    cdef double width_density(self, double t, Py_ssize_t g, double n, double squares) noexcept nogil
    cdef double slice_width(self, Py_ssize_t g, double n, double squares) noexcept nogil
    cdef void rescale(self, Py_ssize_t g, double factor) noexcept nogil
    cdef void update_widths(self) noexcept nogil
    cdef Py_ssize_t draw_component(self) noexcept nogil
    cdef void draw_distribution(self, const int32_t* parent_states, bint deviating, double* out) noexcept nogil
    cdef double component_density(self, Py_ssize_t g, double squares) noexcept nogil
    cdef double shift_widths(self, Py_ssize_t kind, double change) noexcept nogil
    cdef void add_widths(self, Py_ssize_t kind, double* count, double* total) noexcept nogil
    cdef double mixture_density(self, double squares) noexcept nogil
    cdef Py_ssize_t draw_component_given(self, double squares) noexcept nogil
    cdef void update_linked(self) noexcept nogil
    cdef void update_components(self) noexcept nogil

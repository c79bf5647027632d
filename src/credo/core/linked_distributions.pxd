from libc.stdint cimport int32_t, int64_t, uint64_t


cdef class LinkedDistributions:
    cdef public Py_ssize_t rows, components, statements
    cdef int64_t[::1] first_cell, touch_starts, touch_places, row_starts
    cdef int32_t[::1] linked, held, seen, family, following, component, touch_rows, row_distributions, statement, violations
    cdef int32_t[::1] link_starts, links, chosen, row_stamp, changed_rows, order, slow
    cdef double[::1] theta, counts, base, strengths, bounds, coefficients, values, old_values, support
    cdef double[:, ::1] log_shares, norm, below, own_strengths, alphas
    cdef double[::1] level, odds, proposal, previous, shift, barred, alpha
    cdef uint64_t[::1] random
    cdef int32_t[::1] own_starts, own_touches, place_of, last_touch, survivors, ancestor, trial_component
    cdef double[::1] trial
    cdef double[:, ::1] particle_values
    cdef Py_ssize_t placed_rows
    cdef int32_t[::1] choice_of, is_easy, is_slow, old_component, proposed, proposed_component
    cdef Py_ssize_t changed, stamp, chosen_count, choice, proposed_count
    cdef double[::1] stated, renewals, renewed
    cdef double least_unseen, odds_sum, rows_density

    cdef double draw_in_interval(self, double a, double b, double y, double low, double high) noexcept nogil
    cdef double row_value(self, Py_ssize_t row) noexcept nogil
    cdef double mixture(self, Py_ssize_t d, const double* theta) noexcept nogil
    cdef double add_levels(self) noexcept nogil
    cdef Py_ssize_t draw_level(self) noexcept nogil
    cdef void prepare(self, Py_ssize_t d) noexcept nogil
    cdef void redraw_pair(self, Py_ssize_t d, Py_ssize_t k, Py_ssize_t l) noexcept nogil
    cdef void update(self, Py_ssize_t d, Py_ssize_t most, Py_ssize_t particles) noexcept nogil
    cdef void update_distribution(self, Py_ssize_t d) noexcept nogil
    cdef void begin_change(self) noexcept nogil
    cdef void change(self, Py_ssize_t d, const double* theta) noexcept nogil
    cdef double support_change(self) noexcept nogil
    cdef void undo(self, Py_ssize_t row_count) noexcept nogil
    cdef void choose_followers(self, Py_ssize_t d) noexcept nogil
    cdef void shift_together(self, Py_ssize_t d) noexcept nogil
    cdef double replace_chosen(self) noexcept nogil
    cdef void restore_chosen(self) noexcept nogil
    cdef bint draw_alone(self, Py_ssize_t d, Py_ssize_t tries, double* out) noexcept nogil
    cdef void choose_group(self, Py_ssize_t d, Py_ssize_t most) noexcept nogil
    cdef Py_ssize_t choose_linked(self, Py_ssize_t e) noexcept nogil
    cdef double place(self, Py_ssize_t e, const double* theta, double* values) noexcept nogil
    cdef Py_ssize_t draw_survivor(self, Py_ssize_t first, Py_ssize_t alive) noexcept nogil
    cdef bint renew_together(self, Py_ssize_t d, Py_ssize_t most, Py_ssize_t particles) noexcept nogil
    cdef void update_events(self, Py_ssize_t row) noexcept nogil

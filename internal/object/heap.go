package object

// Push adds v to a binary heap, whose first element is the least.
//
// The order of equal elements is visible in the answers to files with equal INLINE
// ranges. It is that of the peers: a new element stays below equal ones, and of two
// equal children the second moves up.
func Push[T any](h []T, v T, less func(a, b T) bool) []T {
	h = append(h, v)
	rise(h, len(h)-1, less)
	return h
}

// Pop removes the first element of a heap.
func Pop[T any](h []T, less func(a, b T) bool) (first T, rest []T) {
	first, last := h[0], h[len(h)-1]
	h = h[:len(h)-1]
	if len(h) == 0 {
		return first, h
	}
	i := 0
	for kid := 1; kid < len(h); kid = 2*i + 1 {
		if kid+1 < len(h) && !less(h[kid], h[kid+1]) {
			kid++
		}
		h[i] = h[kid]
		i = kid
	}
	h[i] = last
	rise(h, i, less)
	return first, h
}

// rise moves element i up to its place.
func rise[T any](h []T, i int, less func(a, b T) bool) {
	v := h[i]
	for i > 0 {
		up := (i - 1) / 2
		if !less(v, h[up]) {
			break
		}
		h[i] = h[up]
		i = up
	}
	h[i] = v
}

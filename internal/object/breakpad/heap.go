package breakpad

// push puts v into a heap whose first element is the least.
//
// Which of several equal elements comes first is visible in the answers to
// files with equal INLINE ranges. So it is fixed here, as the peers have it,
// and not left to a library: a new element stays below equal ones,
// and of two equal children the second goes up.
func push(h []inlinee, v inlinee) []inlinee {
	h = append(h, v)
	rise(h, len(h)-1)
	return h
}

// pop takes the first element out of a heap.
func pop(h []inlinee) (inlinee, []inlinee) {
	first, last := h[0], h[len(h)-1]
	h = h[:len(h)-1]
	if len(h) == 0 {
		return first, h
	}
	i := 0
	for kid := 1; kid < len(h); kid = 2*i + 1 {
		if kid+1 < len(h) && !h[kid].less(&h[kid+1]) {
			kid++
		}
		h[i] = h[kid]
		i = kid
	}
	h[i] = last
	rise(h, i)
	return first, h
}

// rise moves element i up to its place.
func rise(h []inlinee, i int) {
	v := h[i]
	for i > 0 {
		up := (i - 1) / 2
		if !v.less(&h[up]) {
			break
		}
		h[i] = h[up]
		i = up
	}
	h[i] = v
}

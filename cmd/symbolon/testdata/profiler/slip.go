// A small Go program to be profiled: generics, interfaces, closures, goroutines
// and inlined calls, and work of the runtime. It imports nothing, as the debug
// information of packages is large.
package main

type firer interface{ fire(seed uint32) uint32 }

type number interface{ ~uint32 | ~float64 }

type shelf[T number] struct{ tiles []T }

func stir(x uint32) uint32 {
	x ^= x << 13
	x ^= x >> 17
	return x ^ x<<5
}

//go:noinline
func dip[T number](tiles []T, seed uint32, glaze func(T, uint32) T) uint32 {
	for i := range tiles {
		seed = stir(seed)
		tiles[i] = glaze(tiles[i], seed)
	}
	return seed
}

func (s *shelf[T]) fire(seed uint32) uint32 {
	return dip(s.tiles, seed, func(tile T, seed uint32) T { return tile/2 + T(seed&0xff) })
}

type stack struct {
	below *stack
	tile  uint32
}

func (s *stack) fire(seed uint32) uint32 {
	for range 3000 {
		s.below = &stack{s.below, stir(seed)} // work for the collector
		seed += s.below.tile
	}
	s.below = nil
	return seed
}

func tower(height, seed uint32) uint32 {
	if height == 0 {
		return stir(seed)
	}
	return tower(height-1, stir(seed)) + height
}

func main() {
	kilns := []firer{&shelf[uint32]{make([]uint32, 20000)}, &shelf[float64]{make([]float64, 20000)}, &stack{}}
	fired := make(chan uint32)
	for i := range uint32(3000) {
		for _, kiln := range kilns {
			go func() { fired <- kiln.fire(i|1) + tower(300, i) }()
		}
		sum := uint32(0)
		for range kilns {
			sum += <-fired
		}
		print(sum&7, "\n")
	}
}

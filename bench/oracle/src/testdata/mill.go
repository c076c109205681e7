// Mill is compiled by the comparison in forms of its own. It grinds numbers
// through closures, methods, generics and calls that are inlined.
package main

import (
	"errors"
	"fmt"
	"os"
	"sort"
	"strings"
)

type grinder interface{ grind(n int) (int, error) }

type stone struct{ weight int }

func (s stone) grind(n int) (int, error) {
	if n < 0 {
		return 0, errors.New("nothing to grind")
	}
	return heavier(s.weight, n) * 2, nil
}

type wheel[T ~int | ~int64] struct{ teeth []T }

func (w *wheel[T]) turn(by T) (sum T) {
	for _, t := range w.teeth {
		sum += scaled(t, by)
	}
	return sum
}

func scaled[T ~int | ~int64](a, b T) T { return a*b + 1 }

func heavier(a, b int) int {
	if a > b {
		return a
	}
	return lighter(b, a) + b
}

func lighter(a, b int) int { return min(a, b) }

//go:noinline
func sieve(in []int, keep func(int) bool) (out []int) {
	defer func() {
		if r := recover(); r != nil {
			out = nil
		}
	}()
	for _, n := range in {
		if keep(n) {
			out = append(out, heavier(n, 3))
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i] < out[j] })
	return out
}

func main() {
	var g grinder = stone{len(os.Args)}
	n, err := g.grind(5)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	w := wheel[int64]{teeth: []int64{1, 2, int64(n)}}
	limit := n / 2
	out := sieve([]int{3, 1, n}, func(k int) bool { return k > limit })
	done := make(chan int)
	go func() { done <- int(w.turn(3)) }()
	fmt.Println(strings.Repeat("x", len(out)), <-done)
}

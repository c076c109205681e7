package cache_test

import (
	"context"
	"fmt"

	"symbolon/internal/cache"
)

// Callers that need the same file at the same time share one download. A Flight is
// not a cache: a later caller starts another one.
func ExampleFlight() {
	flight := cache.NewFlight[string, string](nil, nil)
	downloads := 0
	download := func(context.Context) (string, error) {
		downloads++
		return "FUNC 1000 20 0 boil", nil
	}
	for range 2 {
		file, err := flight.Do(context.Background(), "kettle.sym", download)
		fmt.Println(file, err)
	}
	fmt.Println(downloads, "downloads")
	// Output:
	// FUNC 1000 20 0 boil <nil>
	// FUNC 1000 20 0 boil <nil>
	// 2 downloads
}

package bucket_test

import (
	"context"
	"fmt"
	"io"
	"strings"

	"symbolon/internal/bucket"
	"symbolon/internal/bucket/mem"
	"symbolon/internal/fault"
)

func Example() {
	ctx := context.Background()
	var b bucket.Bucket = mem.New()
	const key = "kettle.pdb/6D1F0A5C1/kettle.sym"
	if _, err := b.Put(ctx, key, strings.NewReader("FUNC 1000 20 0 boil\n"), bucket.Attrs{}); err != nil {
		fmt.Println(err)
		return
	}
	r, attrs, err := b.Get(ctx, key, 15, -1) // from byte 15 to the end
	if err != nil {
		fmt.Println(err)
		return
	}
	defer r.Close()
	part, err := io.ReadAll(r)
	fmt.Printf("%q of %d bytes, %v\n", part, attrs.Size, err)

	_, err = b.Stat(ctx, "missing")
	fmt.Println(fault.KindOf(err))
	// Output:
	// "boil\n" of 20 bytes, <nil>
	// not found
}

// Of several writers of a key, one creates it.
func ExampleBucket_put() {
	b := mem.New()
	for _, node := range []string{"one", "two"} {
		created, err := b.Put(context.Background(), "jobs/7", strings.NewReader(node), bucket.Attrs{IfAbsent: true})
		fmt.Println(node, created, err)
	}
	// Output:
	// one true <nil>
	// two false <nil>
}

// The last key of a page is the place of the next page.
func ExampleBucket_list() {
	b := mem.New()
	for _, key := range []string{"jobs/1", "jobs/2", "jobs/3", "keys/1"} {
		if _, err := b.Put(context.Background(), key, strings.NewReader("x"), bucket.Attrs{}); err != nil {
			fmt.Println(err)
		}
	}
	for after, more := "", true; more; {
		var keys []string
		var err error
		if keys, more, err = b.List(context.Background(), "jobs/", after, 2); err != nil || len(keys) == 0 {
			return
		}
		fmt.Println(keys)
		after = keys[len(keys)-1]
	}
	// Output:
	// [jobs/1 jobs/2]
	// [jobs/3]
}

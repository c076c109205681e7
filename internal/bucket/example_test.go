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

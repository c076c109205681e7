package oracle

import (
	"encoding/binary"
	"errors"
	"os"
)

// wasm is the cases of objects for WebAssembly.
func wasm(dir string) (list []kase) {
	for _, f := range formsOf("wasm") {
		k := made(dir, "wasm clang "+f.name, "clang --target=wasm32 "+f.flags+" -ffreestanding -c $src/cart.c -o sample.o")
		k.path += ".o"
		list = append(list, k)
	}
	return list
}

// drawWASM chooses addresses in the functions of a module, relative to its code
// section as others count them.
func drawWASM(k kase) (q question, err error) {
	q = question{file: k.path, reference: k.path, kind: kindWASM}
	all, err := os.ReadFile(k.path)
	if err != nil {
		return q, err
	}
	number := func(at int) (v, next int) {
		n, size := binary.Uvarint(all[at:])
		return int(n), at + size
	}
	const code = 10
	b := newBorders()
	for at := 8; at < len(all); {
		id := all[at]
		size, start := number(at + 1)
		if at = start + size; id != code {
			continue
		}
		q.shift = uint64(start)
		count, body := number(start)
		for ; count > 0; count-- {
			size, from := number(body)
			b.functions = append(b.functions, uint64(from-start), uint64(from-start+size-1)) // the size of the next one belongs to it for others
			for range 100 {
				b.rows = append(b.rows, uint64(from-start+b.random.Intn(size)))
			}
			body = from + size
		}
	}
	if q.shift == 0 {
		return q, errors.New("it has no code")
	}
	q.addrs = b.choose()
	return q, nil
}

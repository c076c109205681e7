package debugfile_test

import (
	"testing"

	"symbolon/internal/bin"
	"symbolon/internal/debugfile"
	"symbolon/internal/fixture"
	"symbolon/internal/object"
	"symbolon/internal/sym"
)

func TestNamesAreBoundedInProportionToTheFile(t *testing.T) {
	for functions, all := range map[int]bool{100: true, 4000: false} {
		file := fixture.LongNames(functions)
		f, err := debugfile.Open(bin.Bytes(file), object.Options{})
		if err != nil {
			t.Fatal(err)
		}
		o := f.Objects()[0]
		names, given, asked := o.Names(), 0, 0
		err = o.Blocks(object.BlockOptions{}, func(b *sym.Block) error {
			for i := range b.Nodes {
				given += len(names.AppendText(nil, b.Nodes[i].Name))
				asked++
			}
			return nil
		})
		if err != nil || asked != functions {
			t.Fatalf("%d functions, %v", asked, err)
		}
		if most := 16*len(file) + 32<<20 + 64<<10 + 20*functions; given > most {
			t.Errorf("%d functions: %d bytes of names, more than %d", functions, given, most)
		}
		left := names.LeftOut()
		if (left == 0) != all || left >= uint64(functions) {
			t.Errorf("%d functions: %d names were left out", functions, left)
		}
		damage := o.Info().Damage
		if all && len(damage) > 0 || !all && (len(damage) != 1 || damage[0].Count != left) {
			t.Errorf("%d functions, %d left out: the file tells of %+v", functions, left, damage)
		}
	}
}

package pdb_test

import (
	"bytes"
	"testing"

	"symbolon/internal/fixture"
	"symbolon/internal/format/pdb"
)

// openObject opens the sections of an object with CodeView.
func openObject(types []byte, symbols ...[]byte) *pdb.File {
	var all []byte
	for _, s := range symbols {
		if s, err := pdb.TrimSymbols(bytes.Clone(s)); err == nil {
			all = append(all, s...)
		}
		for len(all)%4 != 0 {
			all = append(all, 0)
		}
	}
	return pdb.OpenObject(pdb.Object{Machine: fixture.PEX64, Symbols: all, Types: types, Code: []pdb.Range{{Start: 0x1000, End: 0x3000}}})
}

const wantObject = `1:1000+20 yard::first(int) 1000-1008 one.cc:5 1008-1020 one.cc:6
1:2008+10 yard::second(int) 2008-2018 two.cc:32
  in -1 inner(int) 200c-2010 two.cc:101
`

func TestModuleOfAnObject(t *testing.T) {
	both := fixture.SampleSymbols(0x1000, 0x2008)
	f := openObject(fixture.SampleTypes(), both[0], both[1])
	if got := text(f, 0); got != wantObject || !f.HasCode() || len(f.Problems) > 0 {
		t.Errorf("%s%v, has code: %v", got, f.Problems, f.HasCode())
	}
	f.Parts(func(p pdb.Part) bool {
		if p.Module != 0 || p.Start != 0x1000 || p.End != 0x3000 {
			t.Errorf("code at %+v", p)
		}
		return true
	})
	if f := openObject(nil); text(f, 0) != "" || f.HasCode() {
		t.Error("an object without CodeView has code")
	}
}

// A scope that is not closed does not contain the functions of other sections.
func TestScopesOfAnObjectEndWithTheirSection(t *testing.T) {
	both := fixture.SampleSymbols(0x1000, 0x2008)
	open := bytes.Replace(both[0], fixture.PDBRecord(0x114f), fixture.PDBRecord(0x1000), 1)
	var all [][]byte
	for range 300 {
		all = append(all, open)
	}
	f := openObject(fixture.SampleTypes(), append(all, both[1])...)
	var b pdb.Body
	if err := f.Body(0, &b); err != nil || len(b.Procs) != 301 || len(b.Sites) != 1 {
		t.Errorf("%d procedures, %d calls, %v", len(b.Procs), len(b.Sites), err)
	}
}

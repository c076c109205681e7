package debugfile_test

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"symbolon/internal/bin"
	"symbolon/internal/debugfile"
	"symbolon/internal/fixture"
	"symbolon/internal/object"
	"symbolon/internal/sym"
)

// order is that of a program.
func order(p *fixture.Program) binary.AppendByteOrder {
	if p.Big {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

// unitsAt are where the units of a program begin in .debug_info.
func unitsAt(p *fixture.Program) (offs []int, info []byte) {
	o := order(p).(binary.ByteOrder)
	for _, s := range p.Sections() {
		if s.Name == ".debug_info" {
			info = s.Data
		}
	}
	for at := 0; at < len(info); {
		offs = append(offs, at)
		if size := o.Uint32(info[at:]); size != 0xffffffff {
			at += 4 + int(size)
		} else {
			at += 12 + int(o.Uint64(info[at+4:]))
		}
	}
	return offs, info
}

// addAranges gives a program a table of where its units have code.
func addAranges(p *fixture.Program) {
	o, size := order(p), 4
	word := func(b []byte, v uint64) []byte { return o.AppendUint32(b, uint32(v)) }
	if p.Wide {
		size, word = 8, o.AppendUint64
	}
	offs, _ := unitsAt(p)
	var all []byte
	for i, u := range p.Units {
		ranges := slices.Clone(u.Ranges)
		if u.Version == 2 || len(ranges) == 0 {
			for _, f := range u.Funcs {
				ranges = append(ranges, f.Ranges...)
			}
			for _, s := range u.Sequences {
				if len(s.Rows) > 0 {
					ranges = append(ranges, [2]uint64{s.Rows[0].Addr, s.End})
				}
			}
		}
		set := o.AppendUint32(o.AppendUint16(nil, 2), uint32(offs[i]))
		set = append(set, byte(size), 0)
		for (4+len(set))%(2*size) != 0 {
			set = append(set, 0)
		}
		for _, r := range append(ranges, [2]uint64{}) {
			set = word(word(set, r[0]), r[1]-r[0])
		}
		all = append(o.AppendUint32(all, uint32(len(set))), set...)
	}
	p.More = append(p.More, fixture.ELFSection{Name: ".debug_aranges", Type: 1, Data: all})
}

// The first addresses, which are answered from a part of the units, have the
// answers that all addresses have.
func TestFirstAddressesAreAnsweredByTheRules(t *testing.T) {
	seed := rand.Uint64()
	t.Log("seed", seed)
	r := rand.New(rand.NewPCG(seed, 2))
	for range 60 {
		m := randomProgram(r)
		if m.Relocatable {
			continue
		}
		addAranges(&m.Program)
		if r.IntN(2) == 0 {
			m.Pack = packings(t, &fixture.ELF{Wide: m.Wide, Big: m.Big}, 0)["zlib"]
		}
		file, addrs := m.Bytes(), m.addresses()
		if one, two := blocksOf(t, open(t, file), object.BlockOptions{}), blocksOf(t, open(t, file), object.BlockOptions{Workers: 2}); one != two {
			t.Fatalf("one worker:\n%s\ntwo:\n%s\n%s", one, two, m)
		}
		for range 60 {
			f, err := debugfile.Open(bin.Bytes(file), object.Options{Columns: m.columns})
			if err != nil {
				t.Fatal(err)
			}
			o := f.Objects()[0]
			var asked []uint64
			var answers [][]sym.Frame
			for range 1 + r.IntN(6) {
				a := addrs[r.IntN(len(addrs))]
				asked, answers = append(asked, a), append(answers, o.Lookup(nil, a))
			}
			for i, a := range asked {
				if got, want := tellFrames(o, answers[i]), m.answers(a); !slices.Contains(want, got) {
					t.Fatalf("address %d of %#x:\n got %s\nwant %q\n%s", i, asked, got, want, m)
				}
			}
		}
	}
}

// twoUnits are two units of one function each, at 0x1100 and 0x1140.
func twoUnits() *fixture.Program {
	p := oneFunction(modelC, fixture.ProgramFunc{Name: "f"})
	first := p.Units[0]
	second := *first
	second.Funcs = []fixture.ProgramFunc{{Name: "g", Ranges: [][2]uint64{{0x1140, 0x1150}}}}
	second.Ranges = [][2]uint64{{0x1140, 0x1150}}
	first.Funcs[0].Ranges = [][2]uint64{{0x1100, 0x1140}}
	first.Ranges = [][2]uint64{{0x1100, 0x1140}}
	p.Units = append(p.Units, &second)
	addAranges(p)
	return p
}

func TestOneAddressIsToldOfDamagedUnits(t *testing.T) {
	p := twoUnits()
	offs, _ := unitsAt(p)
	p.Pack = func(s fixture.ELFSection) fixture.ELFSection {
		if s.Name == ".debug_info" {
			s.Data = slices.Clone(s.Data)
			s.Data[offs[1]+4] = 99 // its version
		}
		return s
	}
	o := open(t, p.Bytes())
	if got := len(o.Lookup(nil, 0x1105-o.Info().LoadAddress)); got != 1 || o.Info().BadRecords != 1 {
		t.Errorf("%d frames, damage %+v", got, o.Info().Damage)
	}
}

// A unit that is missing in the table answers as well: of two with an address the
// first one.
func TestUnitsThatTheTableDoesNotKnowAnswer(t *testing.T) {
	p := twoUnits()
	for _, u := range p.Units {
		u.Funcs[0].Ranges, u.Ranges = [][2]uint64{{0x1100, 0x1150}}, [][2]uint64{{0x1100, 0x1150}}
	}
	p.More = nil
	units := p.Units
	p.Units = units[1:]
	addAranges(p)
	table := p.More[0].Data
	p.Units = units
	offs, _ := unitsAt(p)
	order(p).(binary.ByteOrder).PutUint32(table[6:], uint32(offs[1]))
	o := open(t, p.Bytes())
	for range 20 {
		frames := o.Lookup(nil, 0x1145-o.Info().LoadAddress)
		if len(frames) != 1 || str(o, frames[0].Func) != "f" {
			t.Fatal(tellFrames(o, frames))
		}
	}
}

func TestDamagedSectionsAreTold(t *testing.T) {
	p := twoUnits()
	p.Pack = packings(t, &fixture.ELF{Wide: true}, 1)["zlib"] // all sections are shorter than they say
	for workers := range 3 {
		o := open(t, p.Bytes())
		if got := len(o.Lookup(nil, 0x105)); got > 1 {
			t.Errorf("%d frames", got)
		}
		if blocksOf(t, o, object.BlockOptions{Workers: workers}); o.Info().BadRecords == 0 {
			t.Errorf("%d workers: the damage is not reported", workers)
		}
	}
}

func TestFirstAddressesAtTheSameTime(t *testing.T) {
	p := twoUnits()
	p.Pack = packings(t, &fixture.ELF{Wide: true}, 0)["zlib"]
	for range 30 {
		o := open(t, p.Bytes())
		var all sync.WaitGroup
		for i := range 4 {
			all.Go(func() {
				for k := range 4 {
					at, want := uint64(0x105), "f"
					if (i+k)%2 == 0 {
						at, want = 0x145, "g"
					}
					frames := o.Lookup(nil, at)
					if len(frames) != 1 || str(o, frames[0].Func) != want || str(o, frames[0].File) != "/d/a.c" {
						t.Errorf("at %#x %s", at, tellFrames(o, frames))
					}
				}
			})
		}
		all.Wait()
	}
}

func TestDamagedTablesOfUnitsDoNotChangeAnswers(t *testing.T) {
	p := twoUnits()
	good := p.More[0].Data
	for i := range good {
		for _, to := range []byte{0, 1, good[i] ^ 0x80, 0xff} {
			p.More[0].Data = slices.Clone(good)
			p.More[0].Data[i] = to
			o := open(t, p.Bytes())
			base := o.Info().LoadAddress
			for at, want := range map[uint64]string{0x1105: "f", 0x1145: "g"} {
				frames := o.Lookup(nil, at-base)
				if len(frames) != 1 || str(o, frames[0].Func) != want {
					t.Errorf("byte %#x is %#x: at %#x %s", i, to, at, tellFrames(o, frames))
				}
			}
			if info := o.Info(); info.BadRecords != 0 {
				t.Errorf("byte %#x is %#x: damage %+v", i, to, info.Damage)
			}
		}
	}
}

// A unit without code, which the table does not have, does not answer.
func TestUnitsWithoutCodeHideNothing(t *testing.T) {
	p := twoUnits()
	p.Units[0].Funcs, p.Units[0].Ranges, p.Units[0].Sequences = nil, nil, nil
	table := p.More[0].Data
	size := int(order(p).(binary.ByteOrder).Uint32(table)) + 4
	p.More[0].Data = table[size:] // of the second unit alone
	set := p.More[0].Data
	for at := 16; at+16 <= len(set); at += 16 {
		if o := order(p).(binary.ByteOrder); o.Uint64(set[at:]) == 0x1140 {
			o.PutUint64(set[at+8:], 4)
		}
	}
	offs, _ := unitsAt(p)
	order(p).(binary.ByteOrder).PutUint32(set[6:], uint32(offs[1]))
	o := open(t, p.Bytes())
	for range 20 {
		if frames := o.Lookup(nil, 0x1148-o.Info().LoadAddress); len(frames) != 1 || str(o, frames[0].Func) != "g" {
			t.Fatal(tellFrames(o, frames))
		}
	}
}

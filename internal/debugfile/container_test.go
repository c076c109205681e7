package debugfile_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"symbolon/internal/bin"
	"symbolon/internal/debugfile"
	"symbolon/internal/fault"
	"symbolon/internal/fixture"
	"symbolon/internal/object"
	"symbolon/internal/trial"
)

func gzipped(t testing.TB, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func zlibbed(t testing.TB, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := zlib.NewWriterLevel(&b, zlib.BestSpeed)
	if err == nil {
		_, err = w.Write(data)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func xzipped(_ testing.TB, data []byte) []byte {
	return fixture.NewXZ(4).Block(fixture.XZStored(data), data, true).Bytes()
}

// member is a file in an archive.
type member struct {
	name string
	data []byte
}

// arHead is the head of a member.
func arHead(name string, size int) string {
	return fmt.Sprintf("%-16s%-12d%-6d%-6d%-8o%-10d`\n", name, 0, 0, 0, 0o644, size)
}

// arGNU returns an archive with a symbol table and long names of GNU.
func arGNU(_ testing.TB, members ...member) []byte { return arLong("/\n", members...) }

// arMicrosoft returns an archive whose long names end with a NUL.
func arMicrosoft(_ testing.TB, members ...member) []byte { return arLong("\x00", members...) }

// arLong returns an archive whose long names end in a way.
func arLong(end string, members ...member) []byte {
	var long strings.Builder
	b := []byte("!<arch>\n")
	add := func(name string, data []byte) {
		b = append(append(b, arHead(name, len(data))...), data...)
		if len(b)%2 != 0 {
			b = append(b, '\n')
		}
	}
	for _, m := range members {
		long.WriteString(m.name + end)
	}
	add("/", []byte("\x00\x00\x00\x00"))
	add("//", []byte(long.String()))
	at := 0
	for i, m := range members {
		name := m.name + "/"
		if i%2 == 0 || len(name) > 16 {
			name = fmt.Sprint("/", at)
		}
		at += len(m.name) + len(end)
		add(name, m.data)
	}
	return b
}

// arBSD is an archive with names in front of the content.
func arBSD(_ testing.TB, members ...member) []byte {
	b := []byte("!<arch>\n" + arHead("__.SYMDEF", 4) + "\x00\x00\x00\x00")
	for _, m := range members {
		name := m.name + "\x00\x00\x00"
		b = append(b, arHead(fmt.Sprint("#1/", len(name)), len(name)+len(m.data))...)
		b = append(append(b, name...), m.data...)
		if len(b)%2 != 0 {
			b = append(b, '\n')
		}
	}
	return b
}

func zipped(method uint16) func(testing.TB, ...member) []byte {
	return func(t testing.TB, members ...member) []byte {
		t.Helper()
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.BestSpeed) })
		for _, m := range members {
			w, err := z.CreateHeader(&zip.FileHeader{Name: m.name, Method: method})
			if err == nil {
				_, err = w.Write(m.data)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
}

// cabinet is a cabinet with a folder for each member.
func cabinet(method uint16) func(testing.TB, ...member) []byte {
	return func(_ testing.TB, members ...member) []byte {
		var c fixture.Cab
		for i, m := range members {
			c.Folder(method, fixture.CabPacked(method, m.data)...).
				File(fixture.CabFile{Name: m.name, Size: uint32(len(m.data)), Folder: uint16(i)})
		}
		return c.Bytes()
	}
}

func tarred(t testing.TB, members ...member) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, m := range members {
		h := &tar.Header{Name: m.name, Mode: 0o644, Size: int64(len(m.data)), Format: tar.FormatUSTAR}
		if m.data == nil {
			h.Typeflag = tar.TypeDir
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(m.data); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

var (
	compressors = map[string]func(testing.TB, []byte) []byte{"gzip": gzipped, "zlib": zlibbed, "zstd": zstandard, "xz": xzipped}
	archivers   = map[string]func(testing.TB, ...member) []byte{
		"ar": arGNU, "ar of BSD": arBSD, "ar of Microsoft": arMicrosoft, "zip": zipped(zip.Store), "zip, deflated": zipped(zip.Deflate), "tar": tarred,
		"cab": cabinet(fixture.CabStored), "cab, MSZIP": cabinet(fixture.CabMSZIP), "cab, LZX": cabinet(fixture.CabLZX | 21<<8),
	}
)

// oneELF is a small file with a function of this name at 0x100.
func oneELF(name string) []byte { return oneFunction(modelC, fixture.ProgramFunc{Name: name}).Bytes() }

func TestCompressedFilesAreOpened(t *testing.T) {
	for name, pack := range compressors {
		for _, text := range [][]byte{oneELF("f"), fixture.NewSym("x").Func(0x100, 0x40, "f").Bytes()} {
			o := open(t, pack(t, text))
			if frames := o.Lookup(nil, 0x108); len(frames) != 1 || str(o, frames[0].Func) != "f" {
				t.Errorf("%s: %s", name, show(o, frames))
			}
		}
	}
}

func TestMembersOfArchivesAreObjects(t *testing.T) {
	text := []byte("no debug file\n")
	for name, pack := range archivers {
		for _, src := range []func([]byte) bin.Source{bin.Bytes, func(b []byte) bin.Source { return onDisk{bin.Bytes(b)} }} {
			f, err := debugfile.Open(src(pack(t, member{"readme", text}, member{"a.o", oneELF("a")}, member{"dir/with/a/long/name.o", oneELF("b")}, member{"odd", text[1:]}, member{"c.o", oneELF("c")})), object.Options{})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			var got []string
			for _, o := range f.Objects() {
				got = append(got, o.Info().Name, show(o, o.Lookup(nil, 0x108)))
				agreeWithTable(t, o, name)
			}
			want := []string{"a.o", "a /d/a.c:7 [100+40]", "dir/with/a/long/name.o", "b /d/a.c:7 [100+40]", "c.o", "c /d/a.c:7 [100+40]"}
			if kind, _, _ := strings.Cut(name, " "); !slices.Equal(got, want) || f.Kind() != strings.TrimSuffix(kind, ",") {
				t.Errorf("%s: %s, %q", name, f.Kind(), got)
			}
		}
	}
}

func TestArchivesMayBeCompressedOrHoldCompressedFiles(t *testing.T) {
	for c, compress := range compressors {
		for a, pack := range archivers {
			for what, text := range map[string][]byte{
				a + " in " + c: compress(t, pack(t, member{"a.o", oneELF("a")}, member{"b.o", oneELF("b")})),
				c + " in " + a: pack(t, member{"a.o", compress(t, oneELF("a"))}, member{"b.o", compress(t, oneELF("b"))}),
			} {
				f, err := debugfile.Open(bin.Bytes(text), object.Options{})
				if err != nil || len(f.Objects()) != 2 {
					t.Errorf("%s: %v", what, err)
					continue
				}
				wants(t, f.Objects()[1], map[uint64]string{0x108: "b /d/a.c:7 [100+40]"})
			}
		}
	}
}

func TestWhatIsPackedTooOftenIsRefused(t *testing.T) {
	for what, text := range map[string][]byte{
		"three times gzip":         gzipped(t, gzipped(t, gzipped(t, oneELF("a")))),
		"tar in gzip in tar":       tarred(t, member{"a", gzipped(t, tarred(t, member{"b", oneELF("b")}))}),
		"gzip in tar in zstd":      zstandard(t, tarred(t, member{"a", gzipped(t, oneELF("a"))})),
		"zip in zip in zip":        zipped(zip.Store)(t, member{"a", zipped(zip.Store)(t, member{"b", zipped(zip.Store)(t, member{"c", oneELF("c")})})}),
		"xz in ar in zip, 4 times": xzipped(t, arGNU(t, member{"a", xzipped(t, zipped(zip.Deflate)(t, member{"b", oneELF("b")}))})),
	} {
		if f, err := debugfile.Open(bin.Bytes(text), object.Options{}); err == nil {
			t.Errorf("%s: %d objects", what, len(f.Objects()))
		} else if k := fault.KindOf(err); k != fault.Unsupported {
			t.Errorf("%s: %v, which is %v", what, err, k)
		}
	}
}

func TestArchivesWithoutDebugFilesAreRefused(t *testing.T) {
	for name, pack := range archivers {
		for _, text := range [][]byte{pack(t), pack(t, member{"a", []byte("text")}, member{"b", nil})} {
			f, err := debugfile.Open(bin.Bytes(text), object.Options{})
			if err == nil {
				t.Errorf("%s: %d objects", name, len(f.Objects()))
			} else if k := fault.KindOf(err); k != fault.Unsupported && len(text) > 64 {
				t.Errorf("%s: %v, which is %v", name, err, k)
			}
		}
		damaged := oneELF("a")
		damaged[4] = 9
		if _, err := debugfile.Open(bin.Bytes(pack(t, member{"a", damaged})), object.Options{}); fault.KindOf(err) != fault.Malformed {
			t.Errorf("%s of a damaged file: %v", name, err)
		}
	}
}

// A member that is damaged costs itself; where an archive is cut off, those
// before are there.
func TestDamageInAnArchiveCostsThatMember(t *testing.T) {
	damaged := oneELF("a")
	damaged[4] = 9
	for name, pack := range archivers {
		f, err := debugfile.Open(bin.Bytes(pack(t, member{"a", damaged}, member{"b", oneELF("b")})), object.Options{})
		if err != nil || len(f.Objects()) != 1 {
			t.Fatalf("%s: %v", name, err)
		}
		wants(t, f.Objects()[0], map[uint64]string{0x108: "b /d/a.c:7 [100+40]"})
		if d := f.Objects()[0].Info().Damage; len(d) != 1 || d[0].Kind != "damaged members" || !strings.HasPrefix(d[0].Places[0], `member "a`) {
			t.Errorf("%s: damage %+v", name, d)
		}
		if strings.HasPrefix(name, "zip") {
			continue // which has its table at the end
		}
		whole := pack(t, member{"a", oneELF("a")}, member{"b", oneELF("b")})
		f, err = debugfile.Open(bin.Bytes(whole[:len(whole)*2/3]), object.Options{})
		if err != nil || len(f.Objects()) == 0 {
			t.Errorf("%s that is cut off: %v", name, err)
			continue
		}
		wants(t, f.Objects()[0], map[uint64]string{0x108: "a /d/a.c:7 [100+40]"})
	}
}

// Every truncation of a packed file gives an error or answers, and every
// changed byte too.
func TestDamagedContainersAreHarmless(t *testing.T) {
	var all [][]byte
	for _, pack := range archivers {
		all = append(all, pack(t, member{"a.o", oneELF("a")}, member{"longer.than.sixteen", oneELF("b")}))
	}
	for _, pack := range compressors {
		all = append(all, pack(t, oneELF("a")))
	}
	step := 31
	if trial.Race() {
		step = 301
	}
	for _, text := range all {
		for n := 0; n < len(text); n += step {
			opens(t, text[:n])
			changed := slices.Clone(text)
			changed[n] ^= byte(1 + n%255)
			opens(t, changed)
		}
	}
}

// opens asks what can be opened for two addresses.
func opens(t *testing.T, text []byte) {
	t.Helper()
	f, err := debugfile.Open(bin.Bytes(text), object.Options{})
	if err != nil {
		if fault.KindOf(err) == fault.Internal {
			t.Errorf("%v", err)
		}
		return
	}
	for _, o := range f.Objects() {
		o.Lookup(nil, 0x108)
		o.Nearest(0x108)
	}
}

// padded returns a file with n zeros after it.
func padded(n int) []byte { return append(oneELF("a"), make([]byte, n)...) }

// Files that unpack to much more than they have are refused, or take memory in
// proportion, all members together.
func TestPackedBombsAreBounded(t *testing.T) {
	const large = 48 << 20
	bomb, small := padded(large), padded(8<<20)
	gzBomb := gzipped(t, bomb)
	gz, zs := gzipped(t, small), zstandard(t, small)
	many := func(data []byte, n int) (all []member) {
		for i := range n {
			all = append(all, member{fmt.Sprint(i), data})
		}
		return all
	}
	section := oneFunction(modelC, fixture.ProgramFunc{Name: "a"})
	zeros := zstandard(t, make([]byte, 8<<20))
	section.More = []fixture.ELFSection{{Name: ".debug_addr", Type: 1, Flags: 0x800, Data: (&fixture.ELF{Wide: true}).Compressed(2, 8<<20, zeros)}}
	lies := zipped(zip.Deflate)(t, member{"a", small})
	at := bytes.LastIndex(lies, []byte("PK\x01\x02"))
	binary.LittleEndian.PutUint32(lies[at+24:], 1<<31) // a size that it does not have
	for what, c := range map[string]struct {
		text   []byte
		opened bool
	}{
		"gzip":                           {gzBomb, false},
		"zlib":                           {zlibbed(t, bomb), false},
		"zstd":                           {zstandard(t, bomb), false},
		"zip":                            {zipped(zip.Deflate)(t, member{"a", bomb}), false},
		"zip that lies":                  {lies, false},
		"zip of many":                    {zipped(zip.Deflate)(t, many(small, 6)...), true},
		"cab":                            {cabinet(fixture.CabMSZIP)(t, member{"a", padded(60 << 20)}), false},
		"cab of many":                    {cabinet(fixture.CabMSZIP)(t, many(small, 6)...), true},
		"gzip in gzip":                   {gzipped(t, gzBomb), false},
		"gzip of a tar of many":          {gzipped(t, tarred(t, many(small, 6)...)), false},
		"many gzip in ar":                {arGNU(t, many(gz, 40)...), true},
		"many zstd in zip":               {zipped(zip.Store)(t, many(zs, 40)...), true},
		"many zstd in tar":               {tarred(t, many(zs, 40)...), true},
		"many compressed sections in ar": {arGNU(t, many(section.Bytes(), 40)...), true},
		"xz that states 48 MiB":          {fixture.NewXZ(0).BlockOf([]byte{0, 0xc0, 4, 0x80, 0x80, 0x80, 0x18, 0x21, 1, 40}, []byte{1, 0, 0, 'x', 0}, make([]byte, large)).Bytes(), false},
	} {
		var f *object.File
		var err error
		took, peak := cost(func() { f, err = debugfile.Open(bin.Bytes(c.text), object.Options{}) })
		if (err == nil) != c.opened {
			t.Errorf("%s: opened %v, %v", what, err == nil, err)
		}
		if f != nil && len(f.Objects()) > 0 {
			wants(t, f.Objects()[0], map[uint64]string{0x108: "a /d/a.c:7 [100+40]"})
		}
		if (peak > 240<<20 || took > 30*time.Second) && !trial.Race() {
			t.Errorf("%s of %d KiB: it took %v and %d MiB", what, len(c.text)>>10, took, peak>>20)
		}
		t.Logf("%s of %d KiB: %v and %d MiB", what, len(c.text)>>10, took, peak>>20)
	}
}

// The packing of a cabinet, or its missing part, is the fault if no file can be opened.
func TestCabinetsThatAreNotReadSayWhy(t *testing.T) {
	text := oneELF("a")
	whole := new(fixture.Cab).Folder(fixture.CabStored, fixture.CabPlain(text)...).File(fixture.CabFile{Name: "a", Size: uint32(len(text))})
	quantum := func(c *fixture.Cab, folder uint16) *fixture.Cab {
		return c.Folder(fixture.CabQuantum, fixture.CabPlain(text)...).File(fixture.CabFile{Name: `dir\q`, Size: uint32(len(text)), Folder: folder})
	}
	part := &fixture.Cab{Next: "second.cab"}
	part.Folder(fixture.CabStored, fixture.CabPlain(text)...).File(fixture.CabFile{Name: "p", Size: 1 << 20, Folder: fixture.CabToNext})
	for want, c := range map[string]*fixture.Cab{
		`member "dir\\q": cab, folder 0, block 0`:                              quantum(new(fixture.Cab), 0),
		`member "p": cab: unsupported: the file ends in second.cab of the set`: part,
	} {
		if _, err := debugfile.Open(bin.Bytes(c.Bytes()), object.Options{}); fault.KindOf(err) != fault.Unsupported || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	o := open(t, quantum(whole, 1).Bytes())
	wants(t, o, map[uint64]string{0x108: "a /d/a.c:7 [100+40]"})
	if n := o.Info().BadRecords; n != 0 {
		t.Errorf("%d bad records", n)
	}
}

// pages is space that counts what is taken.
type pages struct{ taken int }

func (p *pages) Take(n int) ([]byte, error) {
	p.taken += n
	return make([]byte, n), nil
}

func (p *pages) Close() error { return nil }

// A large member is unpacked to where there is space for it.
func TestLargeMembersOfCabinetsGoToTheSpace(t *testing.T) {
	text := fixture.NewSym("x").Func(0x100, 0x40, "f").Bytes()
	for len(text) < 50<<20 {
		text = append(text, "INFO nothing of interest\n"...)
	}
	packed := new(fixture.Cab).Folder(fixture.CabStored, fixture.CabPlain(text)...).File(fixture.CabFile{Name: "x.sy_", Size: uint32(len(text))}).Bytes()
	s := &pages{}
	f, err := debugfile.Open(bin.Bytes(packed), object.Options{Space: s})
	if err != nil {
		t.Fatal(err)
	}
	if frames := f.Objects()[0].Lookup(nil, 0x108); len(frames) != 1 || s.taken != len(text) {
		t.Errorf("%s, %d bytes of space", show(f.Objects()[0], frames), s.taken)
	}
}

// Members for link-time optimization have no machine code until they are linked.
func TestMembersWithoutMachineCodeAreTold(t *testing.T) {
	const section = ".gnu.lto_.lto.3f"
	slim := func(code int) []byte {
		e := &fixture.ELF{Wide: true, Type: 1, Machine: 62}
		e.Add(fixture.ELFSection{Name: ".text", Type: 1, Flags: 6, Data: make([]byte, code)})
		e.Add(fixture.ELFSection{Name: section, Type: 1, Data: []byte{12, 0, 0, 0, 1, 0, 0, 0}})
		return e.Bytes()
	}
	windows := &fixture.PE{Machine: fixture.PEX64}
	windows.Section(fixture.PESection{Name: section, Data: []byte{12, 0, 0, 0, 1, 0, 0, 0}})
	for name, data := range map[string][]byte{
		"bitcode": []byte("BC\xc0\xde5\x14\x00\x00"), "wrapped bitcode": []byte("\xde\xc0\x17\x0b\x00\x00\x00\x00"),
		"object of MSVC": []byte("\x00\x00\xff\xff\x01\x00d\x86\x00\x00\x00\x00\x38\xfe\xb3\x0c\xa5\xd9\xab\x4d\xac\x9b\xd6\xb6\x22\x26\x53\xc2\x00"),
		"object of GCC":  slim(0), "object of GCC for Windows": windows.Object(false),
	} {
		f, err := debugfile.Open(bin.Bytes(arGNU(t, member{"a.o", data}, member{"b.o", oneELF("b")})), object.Options{})
		if err != nil || len(f.Objects()) != 1 {
			t.Fatalf("%s: %v", name, err)
		}
		told(t, f.Objects()[0], name, "unsupported members", `member "a.o": `, 1)
		if _, err := debugfile.Open(bin.Bytes(arGNU(t, member{"a.o", data})), object.Options{}); err == nil || !strings.Contains(err.Error(), "missing machine code") {
			t.Errorf("%s alone: %v", name, err)
		}
	}
	const thin = "thin ar: unsupported: the archive contains names of object files, not the files"
	if _, err := debugfile.Open(bin.Bytes([]byte("!<thin>\n")), object.Options{}); err == nil || err.Error() != thin {
		t.Errorf("a thin archive: %v, want %s", err, thin)
	}
	if o := open(t, slim(4)); o.Info().BadRecords > 0 {
		t.Errorf("an object that was linked from others: damage %+v", o.Info().Damage)
	}
}

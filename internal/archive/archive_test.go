package archive_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"symbolon/internal/archive"
	"symbolon/internal/bin"
	"symbolon/internal/fault"
	"symbolon/internal/fixture"
)

// file is a file for an archive.
type file struct{ name, text string }

func zipped(t testing.TB, files ...file) string {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, f := range files {
		w, err := z.Create(f.name)
		if err == nil {
			_, err = io.WriteString(w, f.text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func tarred(t testing.TB, files ...file) string {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, f := range files {
		err := w.WriteHeader(&tar.Header{Name: f.name, Size: int64(len(f.text)), Mode: 0o600, Format: tar.FormatPAX})
		if err == nil {
			_, err = io.WriteString(w, f.text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func gzipped(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = io.WriteString(w, text) // to memory
	_ = w.Close()
	return b.String()
}

func zstandard(text string) string {
	w, _ := zstd.NewWriter(nil) // without options
	return string(w.EncodeAll([]byte(text), nil))
}

func xzed(text string) string {
	return string(fixture.NewXZ(1).Block(fixture.XZStored([]byte(text)), []byte(text), true).Bytes())
}

// deb returns a package of Debian.
func deb(member, data string) string {
	head := func(name string, size int) string {
		return fmt.Sprintf("%-16s%-12d%-6d%-6d%-8o%-10d`\n", name, 0, 0, 0, 0o100644, size)
	}
	text := "!<arch>\n" + head("debian-binary", 4) + "2.0\n" + head("control.tar.gz", 3) + "xyz\n"
	return text + head(member, len(data)) + data
}

// cpio returns an archive of the newer ASCII format.
func cpio(files ...file) string {
	var b strings.Builder
	entry := func(name, text string, mode int) {
		fmt.Fprintf(&b, "070701%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%s\x00",
			1, mode, 0, 0, 1, 0, len(text), 0, 0, 0, 0, len(name)+1, 0, name)
		b.WriteString(strings.Repeat("\x00", (4-b.Len()%4)%4) + text)
		b.WriteString(strings.Repeat("\x00", (4-b.Len()%4)%4))
	}
	entry("./usr", "", 0o40755)
	for _, f := range files {
		entry(f.name, f.text, 0o100644)
	}
	entry("TRAILER!!!", "", 0)
	return b.String()
}

// rpm returns a package of RPM with a header of 2 entries and 5 bytes twice.
func rpm(payload string) string {
	header := "\x8e\xad\xe8\x01\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00\x05" + strings.Repeat("e", 32) + "value"
	return "\xed\xab\xee\xdb" + strings.Repeat("l", 92) + header + "pad" + header + payload
}

// walk returns the files of an archive, as "name: text" lines.
func walk(src string, l archive.Limits) (string, error) {
	var b strings.Builder
	err := archive.Each(bin.Bytes([]byte(src)), "in/top", l, nil, func(name string, r io.Reader) error {
		text, err := io.ReadAll(r)
		fmt.Fprintf(&b, "%s: %s\n", name, text)
		return err
	})
	return b.String(), err
}

func TestFilesOfArchives(t *testing.T) {
	a, b := file{"lib/a.so", "ELF of a"}, file{"./b.pdb", "PDB of b"}
	const both = "top/lib/a.so: ELF of a\ntop/b.pdb: PDB of b\n"
	plain := file{"x", "ELF of a"}
	for _, c := range []struct{ name, src, want string }{
		{"a plain file", "MODULE Linux", "top: MODULE Linux\n"},
		{"an empty file", "", "top: \n"},
		{"gzip", gzipped("MODULE"), "top: MODULE\n"},
		{"zip", zipped(t, a, b), both},
		{"tar", tarred(t, a, b), both},
		{"tar.gz", gzipped(tarred(t, a, b)), both},
		{"tar.zst", zstandard(tarred(t, a, b)), both},
		{"tar.xz", xzed(tarred(t, a, b)), both},
		{"cab", string(fixture.CabOf(0, []string{`lib\a.so`, "b.pdb"}, []byte(a.text), []byte(b.text)).Bytes()), both},
		{"deb with gzip", deb("data.tar.gz", gzipped(tarred(t, a, b))), both},
		{"deb with zstd", deb("data.tar.zst", zstandard(tarred(t, a, b))), both},
		{"deb with xz", deb("data.tar.xz", xzed(tarred(t, a, b))), both},
		{"deb without compression", deb("data.tar", tarred(t, a, b)), both},
		{"rpm with gzip", rpm(gzipped(cpio(a, b))), both},
		{"rpm with zstd", rpm(zstandard(cpio(a, b))), both},
		{"rpm with xz", rpm(xzed(cpio(a, b))), both},
		{"a gzip in a zip", zipped(t, file{"x.debug.gz", gzipped("ELF")}), "top/x.debug: ELF\n"},
		{"a zip in a tar", tarred(t, file{"x.zip", zipped(t, a, b)}), strings.ReplaceAll(both, "top/", "top/x.zip/")},
		{"a tar.xz in a zip", zipped(t, file{"x.tar.xz", xzed(tarred(t, plain))}), "top/x.tar/x: ELF of a\n"},
		{"a directory in a zip", zipped(t, file{"lib/", ""}, a), "top/lib/a.so: ELF of a\n"},
		{"a name that leads out", zipped(t, file{"../../etc/passwd", "root"}), "top/../../etc/passwd: root\n"},
	} {
		if got, err := walk(c.src, archive.Limits{}); err != nil || got != c.want {
			t.Errorf("%s: got %q, %v; want %q", c.name, got, err, c.want)
		}
	}
}

func TestHostileArchivesAreRefused(t *testing.T) {
	nested := "file"
	for range 3 {
		nested = zipped(t, file{"x.zip", nested})
	}
	zeros := strings.Repeat("\x00", 1<<20)
	many := make([]file, 0, 30)
	for k := range 30 {
		many = append(many, file{fmt.Sprint(k), "x"})
	}
	bomb := zipped(t, file{"a", zeros}, file{"b", zeros})
	for _, c := range []struct{ name, src, want string }{
		{"archives in archives", nested, "nested in 2 others"},
		{"compressed twice", gzipped(gzipped("x")), "compressed twice"},
		{"more bytes than allowed", bomb, "exceeds its limit"},
		{"more bytes than allowed, in a gzip", gzipped(zeros + zeros), "exceeds its limit"},
		{"many files", tarred(t, many...), "more than 20 files"},
		{"a long list of files", zipped(t, file{strings.Repeat("n", 20*512), "x"}), "more than 20 files"},
		{"a zip without its end", zipped(t, file{"a", "x"})[:40], "cut off"},
		{"a tar without its end", tarred(t, file{"a", strings.Repeat("x", 2000)})[:1600], "unexpected EOF"},
		{"a deb without its data", deb("data.tar.gz", "")[:100], "cut off"},
		{"an rpm with a damaged header", strings.Replace(rpm(""), "\x8e\xad\xe8", "\x8e\xad\xe9", 2), "header of the package"},
		{"an rpm with a long header", strings.Replace(rpm(""), "\x00\x00\x00\x05", "\xff\x00\x00\x05", 1), "header of the package"},
		{"a cpio with a damaged head", rpm(cpio()[:60] + "zzzzzzzz" + cpio()[68:]), "head of a file"},
	} {
		_, err := walk(c.src, archive.Limits{Files: 20, Bytes: 3 << 19})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want an error with %q", c.name, err, c.want)
		}
	}
}

func TestOneUnreadableFileDoesNotHideTheOthers(t *testing.T) {
	src := []byte(zipped(t, file{"a", "first"}, file{"b", "second"}))
	at := bytes.LastIndex(src, []byte("PK\x01\x02"))
	at = bytes.LastIndex(src[:at], []byte("PK\x01\x02"))
	src[at+10] = 77 // the method of the first file
	var read []string
	err := archive.Each(bin.Bytes(src), "top.zip", archive.Limits{}, nil, func(name string, r io.Reader) error {
		text, err := io.ReadAll(r)
		read = append(read, fmt.Sprintf("%s %s %v", name, text, fault.KindOf(err)))
		return nil
	})
	if got, want := strings.Join(read, ", "), "top.zip/a  unsupported, top.zip/b second "; err != nil || !strings.HasPrefix(got, want) {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
}

func TestErrorsOfTheCallerEndTheWalk(t *testing.T) {
	stop, calls := errors.New("stop"), 0
	for _, src := range []string{"plain", zipped(t, file{"a", "1"}, file{"b", "2"}), gzipped(tarred(t, file{"a", "1"}, file{"b", "2"}))} {
		calls = 0
		err := archive.Each(bin.Bytes([]byte(src)), "top", archive.Limits{}, nil, func(string, io.Reader) error {
			calls++
			return stop
		})
		if err != stop || calls != 1 {
			t.Errorf("got %v after %d calls, want the error of the first", err, calls)
		}
	}
}

func FuzzEach(f *testing.F) {
	a := file{"lib/a.so", "ELF of a"}
	for _, src := range []string{
		zipped(f, a), tarred(f, a), gzipped(tarred(f, a)), zstandard(cpio(a)), deb("data.tar.xz", xzed(tarred(f, a))),
		rpm(gzipped(cpio(a))), string(fixture.CabOf(0, []string{"a"}, []byte(a.text)).Bytes()), tarred(f, file{"x.zip", zipped(f, a)}), "BZh91AY&SY",
	} {
		f.Add([]byte(src))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		var files, size int64
		l := archive.Limits{Files: 50, Bytes: 1 << 20}
		err := archive.Each(bin.Bytes(src), "x", l, nil, func(_ string, r io.Reader) error {
			n, _ := io.Copy(io.Discard, r) // a file may be damaged
			files, size = files+1, size+n
			return nil
		})
		if files > 50 || size > 1<<20+int64(len(src)) {
			t.Errorf("%d files with %d bytes: above the limits", files, size)
		}
		var known *fault.Error
		if err != nil && !errors.As(err, &known) {
			t.Errorf("the error %v (%T) is not a fault", err, err)
		}
	})
}

func TestFilesOfANamelessArchiveHaveTheirOwnPaths(t *testing.T) {
	var names []string
	err := archive.Each(bin.Bytes([]byte(zipped(t, file{"lib/a.so", "ELF"}))), "", archive.Limits{}, nil, func(name string, _ io.Reader) error {
		names = append(names, name)
		return nil
	})
	if got := strings.Join(names, ", "); err != nil || got != "lib/a.so" {
		t.Errorf("got %q, %v; want lib/a.so", got, err)
	}
}

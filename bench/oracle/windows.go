package oracle

import (
	"bytes"
	"context"
	"debug/pe"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// toolchain makes programs for Windows out of our own sources alone.
type toolchain struct{ language, name, c, cc, link string }

func toolchains() (list []toolchain) {
	for _, arch := range []string{"x86_64", "i686", "aarch64"} {
		target := " --target=" + arch + "-pc-windows-msvc"
		list = append(list, toolchain{"msvc", arch, "clang" + target, "clang++" + target,
			"lld-link /nodefaultlib /entry:entry /subsystem:console /safeseh:no /debug /out:sample.exe /pdb:sample.pdb"})
	}
	for _, of := range []string{"x86_64 i386pep entry", "i686 i386pe _entry"} {
		part := strings.Fields(of)
		target := " --target=" + part[0] + "-w64-mingw32"
		list = append(list, toolchain{"mingw", part[0], "clang" + target, "clang++" + target,
			"ld.lld --subsystem console -o sample.exe -m " + part[1] + " -e " + part[2]})
	}
	gcc := "x86_64-w64-mingw32-gcc"
	return append(list, toolchain{"mingw-gcc", "x86_64", gcc, "x86_64-w64-mingw32-g++", gcc + " -nostdlib -Wl,-e,entry -o sample.exe"})
}

// windows is the cases of programs for Windows: with PDBs, or with DWARF.
func windows(dir string) (list []kase) {
	for _, t := range toolchains() {
		for _, f := range formsOf(t.language) {
			flags := f.flags + " -ffreestanding -c $src/"
			if strings.HasPrefix(f.name, "object") {
				k := made(dir, strings.Join([]string{t.language, t.name, f.name}, " "), t.c+" "+flags+"cart.c -o sample.o")
				k.path += ".o"
				list = append(list, k)
				continue
			}
			cxx := t.cc + " -std=c++17 -fno-exceptions -fno-rtti -fno-threadsafe-statics " + flags
			k := made(dir, strings.Join([]string{t.language, t.name, f.name}, " "), cxx+"quarry.cc -o 0.o", cxx+"vein.cc -o 1.o",
				t.c+" "+flags+"cart.c -o 2.o", t.link+" "+f.link+" 0.o 1.o 2.o", f.then)
			k.path += ".exe"
			if t.language == "msvc" {
				k.image, k.path = k.path, strings.TrimSuffix(k.path, "exe")+"pdb"
			}
			list = append(list, k)
		}
	}
	return list
}

// given is a case of a file that was made elsewhere. A PDB is that of the image
// beside it, and an image with a PDB beside stands for that.
func given(file string) kase {
	k := kase{name: "given " + file, path: file}
	beside, ext := strings.TrimSuffix(file, filepath.Ext(file)), strings.ToLower(filepath.Ext(file))
	for _, image := range []string{".exe", ".dll", ".node", ".sys", ".pyd"} {
		_, missing := os.Stat(beside + image)
		_, bare := os.Stat(beside + ".pdb")
		if (ext == ".pdb" || ext == image) && missing == nil && bare == nil {
			k.path, k.image = beside+".pdb", beside+image
		}
	}
	return k
}

// drawPDB chooses addresses of a PDB: relative to the image, which is what
// PDBs have.
func drawPDB(ctx context.Context, k kase) (q question, err error) {
	q = question{file: k.path, reference: k.path, image: k.image, kind: kindPDB}
	b := newBorders()
	if tool("llvm-pdbutil") != "" {
		if q.dump, err = readDump(ctx, k.path); err != nil {
			return q, err
		}
		b.dump(q.dump)
		q.addrs = b.choose()
		return q, nil
	}
	f, err := pe.Open(k.image)
	if err != nil {
		return q, err
	}
	defer f.Close()
	b.code(f, 0)
	q.addrs = b.choose()
	return q, nil
}

// dump takes borders of procedures, calls, lines and public symbols.
func (b *borders) dump(d *dump) {
	var calls func(s *scope)
	calls = func(s *scope) {
		for _, c := range s.calls {
			for _, r := range c.rows {
				b.inlines = append(b.inlines, r.start, max(r.start, r.end-1), r.end)
			}
			calls(c)
		}
	}
	for _, p := range d.procs {
		b.function(p.start, p.end)
		calls(p)
	}
	for _, r := range d.rows {
		b.rows = append(b.rows, r.start+uint64(b.random.Intn(3)/2))
	}
	for _, p := range d.publics {
		if p.code {
			b.function(p.addr, 0)
		}
	}
	for _, p := range d.parts {
		if p.code {
			b.others = append(b.others, p.start, p.end-1, p.end)
		}
	}
}

// drawPE chooses addresses of an image with DWARF, or of an object.
func drawPE(k kase, kind string) (q question, err error) {
	q = question{file: k.path, reference: k.path, kind: kind}
	f, err := pe.Open(k.path)
	if err != nil {
		return q, err
	}
	defer f.Close()
	switch h := f.OptionalHeader.(type) {
	case *pe.OptionalHeader64:
		q.base = h.ImageBase
	case *pe.OptionalHeader32:
		q.base = uint64(h.ImageBase)
	}
	if kind == kindCOFF {
		for _, s := range f.Sections {
			s.VirtualSize = s.Size
		}
	}
	b := newBorders()
	for _, s := range f.Symbols {
		if n := int(s.SectionNumber); n > 0 && n <= len(f.Sections) && f.Sections[n-1].Characteristics&pe.IMAGE_SCN_CNT_CODE != 0 {
			b.function(q.base+uint64(f.Sections[n-1].VirtualAddress)+uint64(s.Value), 0)
		}
	}
	b.code(f, q.base)
	if d, err := f.DWARF(); err == nil {
		b.units(d)
	}
	q.addrs = b.choose()
	q.goes = f.Section(".symtab") != nil
	return q, nil
}

// code takes places in the sections with code.
func (b *borders) code(f *pe.File, base uint64) {
	for _, s := range f.Sections {
		if low := base + uint64(s.VirtualAddress); s.Characteristics&pe.IMAGE_SCN_CNT_CODE != 0 && s.VirtualSize > 0 {
			b.others = append(b.others, low, low+uint64(s.VirtualSize)-1, low+uint64(s.VirtualSize))
			for range 100 {
				b.function(low+uint64(b.random.Int63n(int64(s.VirtualSize))), 0)
			}
		}
	}
}

// kindOf is what kind of file there is, by its first bytes.
func kindOf(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	var head [4]byte
	if _, err = f.Read(head[:]); err != nil {
		return "", fmt.Errorf("read %s: %w", path, err)
	}
	switch {
	case string(head[:2]) == "MZ":
		return kindPE, nil
	case string(head[:]) == "Micr":
		return kindPDB, nil
	case string(head[:]) == "\x00asm":
		return kindWASM, nil
	case bytes.Contains([]byte("\x64\x86 \x4c\x01 \x64\xaa \xc4\x01"), head[:2]) || string(head[:]) == "\x00\x00\xff\xff":
		return kindCOFF, nil
	}
	return kindELF, nil
}

package bundle

import (
	"archive/zip"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"strings"
	"unicode/utf8"
)

// Write writes a bundle of files with their texts, and returns the number of
// files written. It skips texts that are not UTF-8, which readers cannot show,
// and files with the path and the URL of an earlier one. The output depends
// only on the input.
func Write(w io.Writer, m Manifest, files iter.Seq2[File, []byte]) (n int, err error) {
	head := binary.LittleEndian.AppendUint32([]byte(Magic), version)
	if _, err := w.Write(head); err != nil {
		return 0, fmt.Errorf("write header: %w", err)
	}
	z := zip.NewWriter(w)
	z.SetOffset(headerSize)
	listed, seen := map[string]any{}, map[[2]string]bool{}
	for f, text := range files {
		key := [2]string{f.Path, f.URL}
		if !utf8.Valid(text) || seen[key] {
			continue
		}
		seen[key] = true
		name := entryName(cmp.Or(f.Path, f.URL))
		for i, plain := 1, name; listed[name] != nil; i++ {
			name = fmt.Sprintf("%s.%d", plain, i)
		}
		if err := writeEntry(z, name, text); err != nil {
			return n, err
		}
		listed[name] = describe(f)
		n++
	}
	all := map[string]any{"files": listed}
	if len(m.Links) > 0 {
		all["source_links"] = m.Links
	}
	for key, v := range m.Attributes {
		if _, taken := all[key]; !taken {
			all[key] = v
		}
	}
	text, err := json.Marshal(all)
	if err == nil {
		err = writeEntry(z, manifestName, text)
	}
	if err == nil {
		err = z.Close()
	}
	return n, err
}

func writeEntry(z *zip.Writer, name string, text []byte) error {
	// The earliest date of the format, so that the output does not depend on a
	// clock.
	w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate, ModifiedDate: 1<<5 | 1})
	if err == nil {
		_, err = w.Write(text)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

// entryName returns the name of a file in the archive: its path below files/,
// without "..". A drive letter becomes a folder.
func entryName(path string) string {
	name := "files"
	for part := range strings.FieldsFuncSeq(path, func(r rune) bool { return r == '/' || r == '\\' }) {
		if part == "." || part == ".." {
			continue
		}
		if len(part) > 1 && len(name) == len("files") {
			part = strings.TrimSuffix(part, ":")
		}
		name += "/" + part
	}
	return name
}

// describe returns the manifest's description of a file.
func describe(f File) map[string]any {
	m := map[string]any{"type": cmp.Or(f.Type, Source)}
	if f.Path != "" {
		m["path"] = f.Path
		if clean := Normal(f.Path); clean != toSlash(f.Path) {
			m["path"] = clean
		}
	}
	if f.URL != "" {
		m["url"] = f.URL
	}
	headers := map[string]string{}
	if !f.DebugID.IsZero() {
		headers["debug-id"] = f.DebugID.String()
	}
	if f.SourceMap != "" {
		headers["sourcemap"] = f.SourceMap
	}
	if len(headers) > 0 {
		m["headers"] = headers
	}
	return m
}

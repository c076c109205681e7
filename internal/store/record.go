package store

import (
	"bytes"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io"
	"slices"

	"symbolon/internal/bucket"
	"symbolon/internal/debugfile"
	"symbolon/internal/fault"
	"symbolon/internal/ident"
	"symbolon/internal/object"
	"symbolon/internal/source"
	"symbolon/internal/store/blob"
)

// A Record is the description of a file, as parsed from its bytes.
type Record struct {
	Size    int64        `json:"size"` // of the decoded file
	SHA256  ident.SHA256 `json:"sha256"`
	SHA1    ident.SHA1   `json:"sha1"`
	FileID  ident.FileID `json:"file_id,omitzero"` // of an ELF file
	Objects []Object     `json:"objects"`          // with identifiers; none: a file of a kind that is not read
}

// An Object is a binary that a file describes.
type Object struct {
	Module   ident.Module    `json:"module"`
	Kind     string          `json:"kind"` // of file, as in package source: "elf_debug"
	Type     string          `json:"type,omitempty"`
	Features object.Features `json:"features"`
}

// kinds has the kinds of companions and of code by format.
var kinds = map[string][2]string{
	"breakpad":     {source.Breakpad, source.Breakpad},
	"elf":          {source.ELFDebug, source.ELFCode},
	"macho":        {source.MachDebug, source.MachCode},
	"wasm":         {source.WasmDebug, source.WasmCode},
	"pe":           {source.PE, source.PE},
	"pdb":          {source.PDB, source.PDB},
	"portablepdb":  {source.PortablePDB, source.PortablePDB},
	"sourcebundle": {source.SourceBundle, source.SourceBundle},
}

// kindOf returns the kind of an object, "" if files of its format are not found.
func kindOf(info *object.Info) string {
	if info.Type == "dbg" {
		return kinds[info.Kind][0]
	}
	return kinds[info.Kind][1]
}

// formatOf returns the format of files of a kind.
func formatOf(kind string) string {
	for format, k := range kinds {
		if k[0] == kind || k[1] == kind {
			return format
		}
	}
	return kind
}

// IsOf reports whether the object serves as one of these kinds of file. A program with
// its debug information serves as its companion too.
func (o *Object) IsOf(wanted []string) bool {
	if len(wanted) == 0 || slices.Contains(wanted, o.Kind) {
		return true
	}
	companion := kinds[formatOf(o.Kind)][0]
	return o.Features&object.HasDebug != 0 && slices.Contains(wanted, companion)
}

// describe reads a file of a known size and sums into rec. The error is a fault of the
// file, or of reading it.
func (rec *Record) describe(r *blob.Reader) (err error) {
	defer fault.Recover("debug file", &err)
	format, infos, err := debugfile.Describe(r)
	if err != nil {
		return err
	}
	for i := range infos {
		info := &infos[i]
		kind := kindOf(info)
		if kind == "" || info.Module.DebugID.IsZero() && info.Module.CodeID.IsZero() {
			continue
		}
		rec.Objects = append(rec.Objects, Object{Module: info.Module, Kind: kind, Type: info.Type, Features: info.Features})
	}
	if len(rec.Objects) == 0 {
		return fault.New(fault.Unsupported, format, "%w", errNoID)
	}
	if format == "elf" {
		rec.FileID, err = ident.NewFileID(r, r.Size())
	}
	return err
}

var errNoID = errors.New("it has no identifier, so nothing could find it: no build id, no PDB signature, no UUID, no MODULE line")

// identities returns the identifiers of the objects, each once.
func (rec *Record) identities() (list []Identity) {
	for i := range rec.Objects {
		m := &rec.Objects[i].Module
		if id := (Identity{m.DebugID, m.CodeID}); !slices.Contains(list, id) {
			list = append(list, id)
		}
	}
	return list
}

// record returns the description of a stored copy. One that is missing or damaged is
// made again from the bytes.
func (s *Store) record(ctx context.Context, c Copy) (*Record, error) {
	rec := &Record{}
	text, err := s.read(ctx, recordKey(c.SHA256))
	switch {
	case err == nil && json.Unmarshal(text, rec) == nil:
		return rec, nil
	case err != nil && fault.KindOf(err) != fault.NotFound:
		return nil, err
	}
	if rec, err = s.parse(ctx, c); err != nil {
		return nil, err
	}
	if err := s.replaceRecord(ctx, rec); err != nil {
		s.deps.Log.Warn("cannot write the record of a file; it is made again for each question", "file", c.SHA256, "error", err)
	}
	return rec, nil
}

// replaceRecord writes the record of a file, also if there is one.
func (s *Store) replaceRecord(ctx context.Context, rec *Record) error {
	text := encode(rec)
	_, err := s.deps.Bucket.Put(ctx, recordKey(rec.SHA256), bytes.NewReader(text), bucket.Attrs{Size: int64(len(text))})
	return err
}

// parse makes the record of a copy from its bytes, which must have the sum.
func (s *Store) parse(ctx context.Context, c Copy) (*Record, error) {
	r, err := s.openCopy(ctx, c)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	rec, err := sum(r)
	if err != nil {
		return nil, err
	}
	if rec.SHA256 != c.SHA256 {
		return nil, fault.New(fault.Malformed, c.BlobKey(), "the content has the SHA-256 %v", rec.SHA256)
	}
	if err := rec.describe(r); err != nil && ctx.Err() != nil {
		return nil, err
	} else if err != nil {
		rec.Objects = nil // it was kept as a file of a kind that is not read
	}
	return rec, nil
}

// sum returns a record with the size and the sums of a file.
func sum(r *blob.Reader) (*Record, error) {
	rec := &Record{}
	s256, s1 := sha256.New(), sha1.New()
	n, err := io.Copy(io.MultiWriter(s256, s1), io.NewSectionReader(r, 0, r.Size()))
	rec.Size = n
	s256.Sum(rec.SHA256[:0])
	s1.Sum(rec.SHA1[:0])
	return rec, err
}

// openCopy opens the bytes of a stored copy.
func (s *Store) openCopy(ctx context.Context, c Copy) (*blob.Reader, error) {
	a, err := s.deps.Bucket.Stat(ctx, c.BlobKey())
	if err != nil {
		return nil, err
	}
	src := &stored{ctx: ctx, bucket: s.deps.Bucket, key: c.BlobKey(), size: a.Size}
	r, err := s.blobs.Open(ctx, src)
	if err != nil {
		src.Close()
		return nil, err
	}
	return r, nil
}

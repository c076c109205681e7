package difs

import (
	"cmp"
	"strings"

	"symbolon/internal/ident"
	"symbolon/internal/object"
	"symbolon/internal/source"
	"symbolon/internal/store"
)

// dif is a debug information file, as Sentry describes it.
type dif struct {
	ID         string   `json:"id"`
	UUID       string   `json:"uuid"`
	DebugID    string   `json:"debugId"`
	CodeID     *string  `json:"codeId"`
	CPU        string   `json:"cpuName"`
	Name       string   `json:"objectName"`
	SymbolType string   `json:"symbolType"`
	Headers    headers  `json:"headers"`
	Size       int64    `json:"size"`
	SHA1       string   `json:"sha1"`
	Created    string   `json:"dateCreated"`
	Data       contents `json:"data"`

	fileName string // under which it is saved
	isListed bool   // Sentry has a name for its kind
}

type headers struct {
	Type string `json:"Content-Type"`
}

// contents describes the contents of a file.
type contents struct {
	Type     string   `json:"type,omitempty"`
	Features []string `json:"features"`
	Unused   string   `json:"unused,omitempty"` // why it is not used
}

// unused is the note on files that are kept and never read.
const unused = "kept as it is: this server reads no files of this kind"

// symbolType is Sentry's name of a kind of file.
type symbolType struct{ name, media, suffix string }

// symbolTypes are the names of the kinds that are listed. A Symbolicator refuses a
// list with another name.
var symbolTypes = map[string]symbolType{
	source.Breakpad:     {"breakpad", "text/x-breakpad", ".sym"},
	source.MachDebug:    {"macho", "application/x-mach-binary", ".dSYM"},
	source.MachCode:     {"macho", "application/x-mach-binary", ""},
	source.ELFDebug:     {"elf", "application/x-elf-binary", ".debug"},
	source.ELFCode:      {"elf", "application/x-elf-binary", ""},
	source.WasmDebug:    {"wasm", "application/wasm", ".wasm"},
	source.WasmCode:     {"wasm", "application/wasm", ".wasm"},
	source.PE:           {"pe", "application/x-dosexec", ".dll"},
	source.PDB:          {"pdb", "application/x-ms-pdb", ".pdb"},
	source.PortablePDB:  {"portablepdb", "application/x-portable-pdb", ".pdb"},
	source.SourceBundle: {"sourcebundle", "application/x-sentry-bundle+zip", ".src.zip"},
	source.BCSymbolMap:  {"bcsymbolmap", "application/x-bcsymbolmap", ".bcsymbolmap"},
	source.UUIDMap:      {"uuidmap", "text/xml", ".plist"},
	source.IL2CPP:       {"il2cpp", "application/x-il2cpp-json", ".json"},
	proguard:            {"proguard", "text/x-proguard+plain", ".txt"},
	dartSymbolMap:       {"dartsymbolmap", "application/x-dartsymbolmap+json", ".json"},
}

// sentryFeatures are Sentry's names of features.
var sentryFeatures = []struct {
	feature object.Features
	name    string
}{
	{object.HasSymbols, "symtab"}, {object.HasDebug, "debug"}, {object.HasUnwind, "unwind"}, {object.HasSources, "sources"},
}

// sumDigits is the number of digits of the SHA-256 that distinguish a file from others of
// its upload.
const sumDigits = 16

// describe returns the description of a file, or of an object in it.
func describe(f *store.Found) *dif {
	d := &dif{
		ID: f.Upload + "." + f.Record.SHA256.String()[:sumDigits], CPU: "any", Name: f.Name, Size: f.Record.Size, SHA1: f.Record.SHA1.String(),
		Created: f.Time.UTC().Format("2006-01-02T15:04:05.000000Z"), Data: contents{Features: []string{}},
	}
	var id ident.DebugID
	kind := ""
	if f.Object >= 0 {
		o := &f.Record.Objects[f.Object]
		id, kind = o.Module.Derive().DebugID, o.Kind
		d.describeObject(o)
	} else {
		if f.Claim != nil {
			id, kind = f.Claim.DebugID, f.Claim.Kind
		}
		d.Data.Features = append(d.Data.Features, "mapping")
		if isUnused(kind) {
			d.Data.Unused = unused
		}
	}
	d.DebugID = id.String()
	d.UUID = d.DebugID[:min(len(d.DebugID), 36)]
	t := symbolTypes[kind]
	d.SymbolType, d.Headers.Type = cmp.Or(t.name, kind), t.media
	d.isListed = t.name != ""
	d.fileName = d.SHA1
	if !id.IsZero() {
		d.fileName = d.DebugID
	}
	switch {
	case kind == source.PE && d.Data.Type == "exe":
		d.fileName += ".exe"
	case kind == source.MachDebug && d.Data.Type != "dbg": // a binary with debug information
	default:
		d.fileName += t.suffix
	}
	return d
}

// describeObject adds the identity and the contents of a binary.
func (d *dif) describeObject(o *store.Object) {
	if o.Module.Arch != 0 {
		d.CPU = o.Module.Arch.String()
	}
	if !o.Module.CodeID.IsZero() {
		text := o.Module.CodeID.String()
		d.CodeID = &text
	}
	d.Data.Type = strings.TrimPrefix(o.Type, "unknown")
	for _, f := range sentryFeatures {
		if o.Features&f.feature != 0 {
			d.Data.Features = append(d.Data.Features, f.name)
		}
	}
}

// describeAll returns the descriptions of a file of an upload, at least one.
func describeAll(u *store.Upload, f *store.UploadedFile, record *store.Record) (list []*dif) {
	found := store.Found{Record: record, Object: -1, Upload: u.ID, Name: f.Name, Claim: f.Claim, Time: u.Time}
	for found.Object = range record.Objects {
		list = append(list, describe(&found))
	}
	if len(list) == 0 {
		list = append(list, describe(&found))
	}
	return list
}

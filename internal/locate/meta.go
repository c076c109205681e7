package locate

import (
	"slices"
	"time"

	"symbolon/internal/fault"
	"symbolon/internal/ident"
	"symbolon/internal/object"
	"symbolon/internal/source"
)

// Meta describes a file. It is stored, and remains when the file is closed.
type Meta struct {
	Module   ident.Module // as stated in the file
	Kind     string
	Type     string // the type of the object: "dbg", "exe", …
	Features object.Features
	VCS      string `json:",omitempty"` // of its source server
	// LoadAddress and Segments are those of object.Info.
	LoadAddress uint64           `json:",omitempty"`
	Segments    []object.Segment `json:",omitempty"`
	Damage      string           `json:",omitempty"`     // the first part that cannot be read
	Hidden      bool             `json:",omitempty"`     // an earlier version found hidden names, and did not list them
	Base        [32]byte         `json:"Names,omitzero"` // identifies the base of its addresses, if the file does not have it
	Size        int64
	// Needs are the other files that it needs, if IsListed is set: an earlier version
	// did not store them.
	Needs      []need `json:",omitempty"`
	HasMore    bool   `json:",omitempty"` // it needs more files
	IsListed   bool   `json:"IsWhole,omitempty"`
	IsAccepted bool   `json:",omitempty"` // of a part: it is the needed file
	// Validator identifies this version of the file, if the source has validators.
	// Checked is the time of the last request for the file, and Retry the time of the
	// next one if that failed.
	Validator string    `json:",omitempty"`
	Checked   time.Time `json:",omitzero"`
	Retry     time.Time `json:",omitzero"`
	Hash      [32]byte  // SHA-256 of the content; zero until its table is built
}

// A need is another file with a part of the debug information of a file, as the file
// names it.
type need struct {
	Kind      object.NeedKind
	Name, Dir []byte `json:",omitempty"`
	ID        []byte `json:",omitempty"`
	CRC       uint32 `json:",omitempty"` // of the content, for a NeedDebug
}

// module returns the module whose file is needed, if it has a build id.
func (n need) module() ident.Module {
	return ident.Module{Type: ident.TypeELF, CodeID: ident.NewBuildID(n.ID).CodeID()}.Derive()
}

// link returns the need of the file with the debug information that a file lacks, or
// nil.
func (meta *Meta) link() *need {
	if len(meta.Needs) == 0 || meta.Needs[0].Kind != object.NeedDebug || meta.Features&object.HasDebug != 0 {
		return nil
	}
	return &meta.Needs[0]
}

// Limits of the needs of a file, so that its meta is smaller than maxMeta.
const (
	maxNeeds    = 4096
	maxNeedText = 512 << 10
	maxID       = 64
)

// needsOf returns the files that an object needs, units in files of their own last,
// and whether there are more than the limits allow.
func needsOf(o *object.Object) (list []need, more bool) {
	text := 0
	for _, n := range o.Needs() {
		part := (n.Kind == object.NeedAlt || n.Kind == object.NeedSplit) && len(n.ID) > 0 || n.Kind == object.NeedMap && len(n.ID) == 16
		link := n.Kind == object.NeedDebug && n.Name != ""
		if !part && !link || len(n.ID) > maxID {
			continue
		}
		if text += len(n.Name) + len(n.Dir) + len(n.ID); len(list) == maxNeeds || text > maxNeedText {
			more = true
			break
		}
		list = append(list, need{n.Kind, []byte(n.Name), []byte(n.Dir), n.ID, n.CRC})
	}
	order := func(n need) int {
		return slices.Index([]object.NeedKind{object.NeedDebug, object.NeedMap, object.NeedAlt, object.NeedSplit}, n.Kind)
	}
	slices.SortStableFunc(list, func(a, b need) int { return order(a) - order(b) })
	return list, more
}

// pick returns the object of a file that m asks for, or else the first one.
func pick(f *object.File, m ident.Module) *object.Object {
	for _, o := range f.Objects() {
		if source.IsSame(o.Info().Module, o.Info().Kind, m) {
			return o
		}
	}
	return f.Objects()[0]
}

func metaOf(o *object.Object, size int64) Meta {
	info := o.Info()
	meta := Meta{Module: info.Module, Kind: info.Kind, Type: info.Type, Features: info.Features, VCS: info.SourceServer, Size: size,
		LoadAddress: info.LoadAddress, Segments: info.Segments}
	meta.Needs, meta.HasMore = needsOf(o)
	meta.IsListed = true
	if len(info.Damage) > 0 {
		meta.Damage = info.Damage[0].Kind
		if len(info.Damage[0].Places) > 0 {
			meta.Damage += ": " + info.Damage[0].Places[0]
		}
	}
	return meta
}

// check returns a fault if the file is not the one that m asks for, or unusable.
// Opening a .sym file has checked its records.
func (meta *Meta) check(m ident.Module) *fault.Error {
	if meta.Features == 0 && meta.Damage != "" && meta.Kind != source.Breakpad {
		return fault.New(fault.Malformed, "", "unusable file: %s", meta.Damage)
	}
	if source.IsSame(meta.Module, meta.Kind, m) {
		return nil
	}
	return fault.New(fault.Malformed, "", "%s: asked for %s, the file says %s", fault.Mismatch, idText(m), idText(meta.Module))
}

func idText(m ident.Module) string {
	if m.DebugID.IsZero() && !m.CodeID.IsZero() {
		return m.CodeID.String()
	}
	return m.DebugID.Breakpad()
}

// Tried is one attempt of the trail of a lookup. The attempts are in the order of the
// candidates, and explain why a file was chosen or no file was found.
type Tried struct {
	Source   string
	Kind     string
	Location string
	Attempt  source.Attempt  // zero if the source was not asked
	Parse    time.Duration   // opening the file
	Cached   bool            // the outcome was remembered
	Expires  time.Time       // when the fault expires, if it is remembered
	Fault    *fault.Error    // nil: the file is usable
	Features object.Features // of a usable file
	VCS      string          // of its source server, if any
	Chosen   bool
}

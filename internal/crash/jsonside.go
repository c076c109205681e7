package crash

import (
	"cmp"
	"fmt"
	"strconv"

	"symbolon/internal/crash/hint"
	"symbolon/internal/format/minidump"
)

type jsonLSB struct {
	ID          string `json:"id"`
	Release     string `json:"release"`
	Codename    string `json:"codename"`
	Description string `json:"description"`
}

type jsonLimits struct {
	Limits []jsonLimit `json:"limits"`
}

type jsonLimit struct {
	Name string `json:"name"`
	Soft any    `json:"soft"`
	Hard any    `json:"hard"`
	Unit string `json:"unit"`
}

type jsonMac struct {
	Count   int             `json:"num_records"`
	Records []jsonMacRecord `json:"records"`
}

type jsonMacRecord struct {
	Thread     *string `json:"thread"`
	DialogMode *string `json:"dialog_mode"`
	AbortCause *string `json:"abort_cause"`
	Module     *string `json:"module"`
	Message    *string `json:"message"`
	Signature  *string `json:"signature_string"`
	Backtrace  *string `json:"backtrace"`
	Message2   *string `json:"message2"`
}

type jsonHandle struct {
	Handle     uint64  `json:"handle"`
	TypeName   *string `json:"type_name"`
	ObjectName *string `json:"object_name"`
}

type jsonAdjusted struct {
	Kind    hint.Adjusted `json:"kind"`
	Address *string       `json:"address,omitempty"`
	Offset  *string       `json:"offset,omitempty"`
}

type jsonAccess struct {
	Address string    `json:"address"`
	Size    *int      `json:"size"`
	Kind    hint.Kind `json:"access_type,omitempty"`
	Guard   bool      `json:"is_likely_guard_page,omitempty"`
}

type jsonUpdate struct {
	Address string `json:"address"`
}

type jsonFlip struct {
	Address    string          `json:"address"`
	Details    jsonFlipDetails `json:"details"`
	Confidence float32         `json:"confidence"`
	Register   *string         `json:"source_register"`
}

type jsonFlipDetails struct {
	WasNonCanonical bool `json:"was_non_canonical"`
	IsNull          bool `json:"is_null"`
	WasLow          bool `json:"was_low"`
	Nearby          int  `json:"nearby_registers"`
	HasPoison       bool `json:"poison_registers"`
}

// addCrash adds the exception and the hints on its cause.
func (r *Report) addCrash(c *jsonCrash) {
	h := &r.Hints
	c.Type, c.Address, c.Instruction = ptr(r.Exception.String()), ptr(r.hex(r.Exception.CrashAddress())), known(h.Instruction)
	switch h.Adjusted {
	case hint.NullPointer:
		c.Adjusted = &jsonAdjusted{Kind: h.Adjusted, Offset: ptr(r.hex(h.Address))}
	case hint.NonCanonical:
		c.Adjusted = &jsonAdjusted{Kind: h.Adjusted, Address: ptr(r.hex(h.Address))}
	}
	if h.Accesses != nil {
		c.Accesses = []jsonAccess{}
	}
	for _, a := range h.Accesses {
		c.Accesses = append(c.Accesses, jsonAccess{r.hex(a.Address), known(a.Size), a.Kind, a.Guard})
	}
	if h.Update != nil {
		c.Update = &jsonUpdate{r.hex(*h.Update)}
	}
	for _, f := range h.Flips {
		c.Flips = append(c.Flips, jsonFlip{
			r.hex(f.Address), jsonFlipDetails{f.WasNonCanonical, f.IsNull, f.WasLow, f.Nearby, f.HasPoison}, f.Confidence, known(f.Register),
		})
	}
	c.Inconsistencies = append([]hint.Inconsistency{}, h.Inconsistencies...)
}

// add adds the parts of a minidump that other dumps do not have.
func (d *document) add(f *minidump.File) {
	if x := f.LSB(); x != nil {
		d.LSB = &jsonLSB{x.ID, x.Release, x.Codename, x.Description}
	}
	if limits := f.Limits(); limits != nil {
		d.Limits = &jsonLimits{}
		for _, x := range limits {
			d.Limits.Limits = append(d.Limits.Limits, jsonLimit{x.Name, limit(x.Soft), limit(x.Hard), cmp.Or(x.Unit, "n/a")})
		}
	}
	if f.LinuxMaps != nil {
		d.Maps = ptr(len(f.LinuxMaps))
	}
	d.SoftErrors, d.BootArgs = f.SoftErrors(), f.BootArgs
	if f.MacCrash != nil {
		d.MacCrash = &jsonMac{Count: len(f.MacCrash)}
		for _, x := range f.MacCrash {
			d.MacCrash.Records = append(d.MacCrash.Records, jsonMacRecord{
				wide(x.Thread), wide(x.DialogMode), wide(x.AbortCause), known(x.Module), known(x.Message), known(x.Signature),
				known(x.Backtrace), known(x.Message2),
			})
		}
	}
	for _, h := range f.Handles {
		d.Handles = append(d.Handles, jsonHandle{h.Value, h.TypeName, h.ObjectName})
	}
}

// limit returns a limit: a number, or else a text.
func limit(text string) any {
	if n, err := strconv.ParseUint(text, 10, 64); err == nil {
		return n
	}
	return text
}

// wide returns a number of 64 bits, nil if it is zero.
func wide(v uint64) *string {
	if v == 0 {
		return nil
	}
	return ptr(fmt.Sprintf("0x%016x", v))
}

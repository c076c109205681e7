package crash

import (
	"cmp"
	"fmt"
	"strconv"

	"symbolon/internal/crash/hint"
	"symbolon/internal/format/minidump"
)

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

type jsonFlip struct {
	Address    string           `json:"address"`
	Details    hint.FlipDetails `json:"details"`
	Confidence float32          `json:"confidence"`
	Register   *string          `json:"source_register"`
}

// addCrash adds the exception and the hints on its cause.
func (r *Report) addCrash(c *jsonCrash) {
	h := &r.Hints
	c.Type, c.Address, c.Instruction = new(r.Exception.String()), new(r.Hex(r.Exception.CrashAddress())), known(h.Instruction)
	switch h.Adjusted {
	case hint.NullPointer:
		c.Adjusted = &jsonAdjusted{Kind: h.Adjusted, Offset: new(r.Hex(h.Address))}
	case hint.NonCanonical:
		c.Adjusted = &jsonAdjusted{Kind: h.Adjusted, Address: new(r.Hex(h.Address))}
	}
	if h.Accesses != nil {
		c.Accesses = []jsonAccess{}
	}
	for _, a := range h.Accesses {
		c.Accesses = append(c.Accesses, jsonAccess{r.Hex(a.Address), known(a.Size), a.Kind, a.Guard})
	}
	if h.Update != nil {
		c.Update = map[string]string{"address": r.Hex(*h.Update)}
	}
	for _, f := range h.Flips {
		c.Flips = append(c.Flips, jsonFlip{r.Hex(f.Address), f.FlipDetails, f.Confidence, known(f.Register)})
	}
	c.Inconsistencies = append([]hint.Inconsistency{}, h.Inconsistencies...)
}

// add adds the parts of a minidump that other dumps do not have.
func (d *document) add(f *minidump.File) {
	for _, x := range f.Limits() {
		if d.Limits == nil {
			d.Limits = map[string][]jsonLimit{}
		}
		d.Limits["limits"] = append(d.Limits["limits"], jsonLimit{x.Name, limit(x.Soft), limit(x.Hard), cmp.Or(x.Unit, "n/a")})
	}
	if f.LinuxMaps != nil {
		d.Maps = new(len(f.LinuxMaps))
	}
	d.LSB, d.SoftErrors, d.BootArgs, d.Crashpad = f.LSB(), f.SoftErrors(), f.BootArgs, f.Crashpad
	if f.MacCrash != nil {
		d.MacCrash = &jsonMac{Count: len(f.MacCrash)}
		for _, x := range f.MacCrash {
			d.MacCrash.Records = append(d.MacCrash.Records, jsonMacRecord{
				wide(x.Thread), wide(x.DialogMode), wide(x.AbortCause), known(x.Module), known(x.Message), known(x.Signature),
				known(x.Backtrace), known(x.Message2),
			})
		}
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
	return new(fmt.Sprintf("0x%016x", v))
}

package crash

import (
	"encoding/json"
	"fmt"
)

// AddExtra adds the annotations of Firefox, which are not part of a dump:
// ModuleSignatureInfo, an object with the files of each certificate or a string with
// its JSON, and CPUMicrocodeVersion.
func (d *Dump) AddExtra(data []byte) error {
	var in struct {
		Certificates json.RawMessage `json:"ModuleSignatureInfo"`
		Microcode    any             `json:"CPUMicrocodeVersion"`
	}
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	if version, ok := in.Microcode.(string); ok && d.System.Microcode == "" {
		d.System.Microcode = version
	}
	if len(in.Certificates) == 0 {
		return nil
	}
	var text string
	if json.Unmarshal(in.Certificates, &text) == nil {
		in.Certificates = json.RawMessage(text)
	}
	var certificates map[string][]string
	if err := json.Unmarshal(in.Certificates, &certificates); err != nil {
		return fmt.Errorf("invalid ModuleSignatureInfo: %w", err)
	}
	d.Certificates = map[string]string{}
	for subject, files := range certificates {
		for _, file := range files {
			d.Certificates[file] = subject
		}
	}
	return nil
}

package explain

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"symbolon/internal/ident"
)

const maxManifest = 64 << 20

// ReadManifest reads the modules of a build: JSON with modules as in requests of
// Symbolicator, or a list as of ReadModules. Errors begin with name.
func ReadManifest(ctx context.Context, in io.Reader, name string) (all []ident.Module, err error) {
	text, err := io.ReadAll(io.LimitReader(in, maxManifest+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxManifest {
		return nil, fmt.Errorf("%s: the manifest is larger than %d bytes", name, maxManifest)
	}
	text = bytes.TrimSpace(text)
	if !bytes.HasPrefix(text, []byte("{")) {
		all, err = ReadModules(ctx, bytes.NewReader(text), name)
	} else if all, err = parseManifest(text); err != nil {
		err = fmt.Errorf("%s: %w", name, err)
	}
	if err == nil && len(all) == 0 {
		err = fmt.Errorf("%s: the manifest has no modules", name)
	}
	return all, err
}

func parseManifest(text []byte) (all []ident.Module, err error) {
	var manifest struct {
		Modules []struct {
			Type      string `json:"type"`
			DebugFile string `json:"debug_file"`
			DebugID   string `json:"debug_id"`
			CodeFile  string `json:"code_file"`
			CodeID    string `json:"code_id"`
		} `json:"modules"`
	}
	if err := json.Unmarshal(text, &manifest); err != nil {
		return nil, err
	}
	for i, x := range manifest.Modules {
		m := ident.Module{
			Type: ident.ParseType(x.Type), DebugFile: x.DebugFile, CodeFile: x.CodeFile,
			CodeID: ident.ParseCodeID(x.CodeID), DebugIDText: x.DebugID,
		}
		if x.DebugID != "" {
			m.DebugID, err = ident.ParseDebugID(x.DebugID)
		}
		if err == nil && m.DebugID.IsZero() && m.CodeID.IsZero() {
			err = errors.New("the module has no id")
		}
		if err != nil {
			return nil, fmt.Errorf("modules[%d]: %w", i, err)
		}
		all = append(all, m)
	}
	return all, nil
}

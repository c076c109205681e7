package extract

import (
	"context"
	"errors"
	"fmt"
	"io"

	"symbolon/internal/format/symbfile"
	"symbolon/internal/ident"
)

// CheckBuild reports an error if a debug file is of another build or architecture
// than the binary, as far as both are known.
func CheckBuild(code, debug ident.Module) error {
	switch {
	case !code.CodeID.IsZero() && !debug.CodeID.IsZero() && code.CodeID != debug.CodeID:
		return fmt.Errorf("the debug file is from another build: it has %s, the binary %s", debug.CodeID, code.CodeID)
	case code.Arch != debug.Arch && code.Arch != ident.ArchUnknown && debug.Arch != ident.ArchUnknown:
		return fmt.Errorf("the debug file is for %s, the binary for %s", debug.Arch, code.Arch)
	}
	return nil
}

// EachRecord calls use for each record of in, until use fails or ctx ends.
func EachRecord(ctx context.Context, in *symbfile.Reader, use func(symbfile.Record) error) error {
	for n := 1; ; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		rec, err := in.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = use(rec)
		}
		if err != nil {
			return err
		}
	}
}

package store

import (
	"context"
	"slices"

	"symbolon/internal/fault"
)

// Earlier returns the upload that makes this one unnecessary: it has the same files under
// the same names, and IsCurrent. Without one it returns nil.
func (d *Draft) Earlier(ctx context.Context) (*Upload, error) {
	d.mu.Lock()
	project, files := d.upload.Project, slices.SortedFunc(slices.Values(d.upload.Files), compare)
	d.mu.Unlock()
	if len(files) == 0 {
		return nil, nil
	}
	found, err := d.store.Find(ctx, []string{project}, Question{SHA1: files[0].SHA1})
	if err != nil || len(found) == 0 {
		return nil, err
	}
	if isCurrent, err := d.IsCurrent(ctx, &found[0]); err != nil || !isCurrent {
		return nil, err
	}
	u, err := d.store.Upload(ctx, found[0].Upload)
	if fault.KindOf(err) == fault.NotFound {
		return nil, nil // it was deleted meanwhile
	}
	if err != nil {
		return nil, err
	}
	isSame := func(a, b UploadedFile) bool { return compare(a, b) == 0 && a.Copy == b.Copy }
	if !slices.EqualFunc(slices.SortedFunc(slices.Values(u.Files), compare), slices.CompactFunc(files, isSame), isSame) {
		return nil, nil
	}
	return u, nil
}

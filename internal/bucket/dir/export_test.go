package dir

import "os"

// RenameNew renames a file of a bucket, as for a file system without links.
func RenameNew(b *Bucket, name, key string) error {
	d, err := b.root()
	if err != nil {
		return err
	}
	return d.renameNew(name, key, os.ErrPermission)
}

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

// Unsynced returns how many files of Puts with Later are not known to be durable.
func Unsynced(b *Bucket) int64 {
	d := b.opened.Load()
	return d.unsynced.Load() - d.synced
}

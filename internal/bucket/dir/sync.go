package dir

// syncEarlier makes the files of all Puts with Later before it durable. Concurrent
// callers share one sync of the file system.
func (d *root) syncEarlier() error {
	n := d.unsynced.Load()
	d.syncs.Lock()
	defer d.syncs.Unlock()
	if d.synced >= n {
		return nil
	}
	n = d.unsynced.Load()
	f, err := d.Open(".")
	if err != nil {
		return err
	}
	defer f.Close()
	if err := syncAll(f); err != nil {
		return err
	}
	d.synced = n
	return nil
}

// syncFolder makes the names in a folder durable. Not every system can do that, and
// the files are complete without it.
func (d *root) syncFolder(at string) {
	if f, err := d.Open(at); err == nil {
		f.Sync()
		f.Close()
	}
}

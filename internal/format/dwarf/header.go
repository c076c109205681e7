package dwarf

// Types of units in headers of version 5.
const utType, utPartial, utSkeleton, utSplitCompile, utSplitType = 2, 3, 4, 5, 6

// maxUnits limits the units of a file.
const maxUnits = 1 << 20

// scan reads the headers of all units of a section.
func (d *Data) scan(b []byte, typed bool) {
	for off := 0; off < len(b); {
		if pad := b[off:min(off+4, len(b))]; string(pad) == "\x00\x00\x00\x00"[:len(pad)] {
			off += len(pad)
			continue
		}
		u, reason := d.readHead(b, off, typed)
		if reason != "" {
			d.problem(infoName(typed), uint64(off), "%s", reason)
		}
		if u.End == 0 { // its length is invalid
			u.End = uint64(d.resync(b, off+max(1, int(u.dies)), typed))
		}
		if len(d.units) == maxUnits {
			d.problem(infoName(typed), uint64(off), "more than %d units", maxUnits)
			return
		}
		if u.dies != 0 {
			d.units = append(d.units, u)
		}
		off = int(u.End)
		d.s.relax(len(d.units))
	}
}

// dropUnits drops the units whose abbreviations are missing.
func (d *Data) dropUnits() {
	kept, infos := d.units[:0], 0
	for _, u := range d.units {
		if u.abbrev >= uint64(len(d.s.Abbrev)) {
			d.problem(infoName(u.typed), u.Off, "abbreviations at offset %#x are beyond the end at %#x", u.abbrev, len(d.s.Abbrev))
			continue
		}
		kept = append(kept, u)
		if !u.typed {
			infos++
		}
	}
	d.units, d.infos = kept, infos
}

// readHead reads the header at off. It returns a reason if the header is
// damaged; then End is 0 if the end of the unit is unknown, and dies is 0 if
// the unit cannot be read.
func (d *Data) readHead(b []byte, off int, typed bool) (u Unit, reason string) {
	u.Off, u.typed, u.l.off = uint64(off), typed, 4
	size, p := d.number(b, off, 4)
	if size == 0xffffffff {
		u.l.off = 8
		size, p = d.number(b, p, 8)
	}
	version, q := d.number(b, p, 2)
	switch {
	case q < 0:
		u.End = uint64(len(b))
		return u, "header exceeds the section"
	case u.l.off == 4 && size >= 0xfffffff0:
		return u, "reserved length"
	}
	short := size > uint64(len(b)-p)
	if !short {
		u.End = uint64(p) + size
		b = b[:u.End]
	}
	if version < 2 || version > 5 {
		return u, "unknown version"
	}
	u.Version = uint8(version)
	p = d.readRest(&u, b, q)
	switch {
	case p < 0:
		return u, "header exceeds the unit"
	case u.AddrSize != 2 && u.AddrSize != 4 && u.AddrSize != 8:
		return u, "unsupported address size"
	}
	u.dies = uint8(p - off)
	if short {
		return u, "unit exceeds the section"
	}
	return u, ""
}

// readRest reads the header after the version, from p on, and returns its end.
func (d *Data) readRest(u *Unit, b []byte, p int) int {
	var addr, kind uint64
	if u.Version >= 5 {
		kind, p = d.number(b, p, 1)
		addr, p = d.number(b, p, 1)
	}
	u.abbrev, p = d.number(b, p, int(u.l.off))
	if u.Version < 5 {
		addr, p = d.number(b, p, 1)
		if u.typed {
			kind = utType
		}
	}
	switch kind {
	case utPartial:
		u.Kind = UnitPartial
	case utSkeleton, utSplitCompile:
		u.Kind = UnitSkeleton
		if kind == utSplitCompile {
			u.Kind = UnitSplit
		}
		u.DwoID, p = d.number(b, p, 8)
	case utType, utSplitType:
		u.Kind = UnitType
		u.DwoID, p = d.number(b, p, 8) // the signature
		u.typeOff, p = d.number(b, p, int(u.l.off))
	}
	u.AddrSize, u.l.addr, u.l.refAddr = uint8(addr), uint8(addr), u.l.off
	if u.Version == 2 {
		u.l.refAddr = u.l.addr
	}
	return p
}

// resync returns the first offset from p on at which a unit seems to begin, or
// the end of the section: a valid header that is the last one or is followed by
// another one.
func (d *Data) resync(b []byte, p int, typed bool) int {
	for ; len(b)-p >= 11; p++ {
		if wide := d.uint(b, p, 4) == 0xffffffff; !wide {
			if v := d.uint(b, p+4, 2); v < 2 || v > 5 {
				continue
			}
		}
		u, reason := d.readHead(b, p, typed)
		if reason != "" || u.abbrev >= uint64(len(d.s.Abbrev)) {
			continue
		}
		if u.End < uint64(len(b)) {
			if _, reason = d.readHead(b, int(u.End), typed); reason != "" {
				continue
			}
		}
		return p
	}
	return len(b)
}

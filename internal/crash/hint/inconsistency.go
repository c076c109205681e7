package hint

import (
	"slices"

	"symbolon/internal/bin"
)

// findInconsistencies compares the exception with the instruction. Windows alone
// reports accesses well enough to compare them.
func (a *analysis) findInconsistencies() {
	add := func(is bool, i Inconsistency) {
		if is {
			a.Inconsistencies = append(a.Inconsistencies, i)
		}
	}
	switch {
	case slices.Contains(divisions, a.reason):
		add(a.isDecoded && !a.isDivision, NotDivision)
	case a.reason == privilege:
		add(a.isDecoded && !a.isPrivileged, NotPrivileged)
	case a.reason == stackOverflow:
		add(a.isPrecise && len(a.Accesses) == 0, AccessNotOfCrash)
	case a.failed == bin.Executable:
		add(a.isDecoded && a.pc != a.address, AccessNotOfCrash)
		add(a.isAllowed(), AccessAllowed)
	case a.failed != 0:
		isMissing := a.isMissing()
		if a.isProtectionFault() && isMissing {
			add(a.isPlain && !a.hasNonCanonical(), NotNonCanonical)
			return
		}
		add(isMissing, AccessNotOfCrash)
		add(a.isAllowed(), AccessAllowed)
	}
}

// isMissing reports whether the instruction certainly does not access the address
// of the crash in the way that failed.
func (a *analysis) isMissing() bool {
	kind := Read
	if a.failed == bin.Writable {
		kind = Write
	}
	return a.isPrecise && !slices.ContainsFunc(a.Accesses, func(x Access) bool {
		return x.contains(a.address) && (x.Kind == kind || x.Kind == ReadWrite)
	})
}

// hasNonCanonical reports whether the instruction may use an address that is not
// canonical.
func (a *analysis) hasNonCanonical() bool {
	if !a.isPrecise || a.Update != nil && isNonCanonical(*a.Update) {
		return true
	}
	return slices.ContainsFunc(a.Accesses, func(x Access) bool { return isNonCanonical(x.Address) })
}

// isAllowed reports whether the memory map allows the access that failed.
func (a *analysis) isAllowed() bool {
	r, ok := a.region(a.address)
	return ok && r.Protection&a.failed != 0
}

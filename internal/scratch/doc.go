// Package scratch has files of a folder in place of memory: temporary ones that
// builds spill to, and mapped ones that files unpack to.
package scratch

// Package pdb reads PDBs, the debug files of Windows, in the words of that
// format.
package pdb

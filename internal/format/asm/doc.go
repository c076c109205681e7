// Package asm writes machine code as text.
//
// # Specification
//
// The manuals are those of package disas. Text for x86 is in the syntax of yaxpeax,
// which samply and rust-minidump use: that of Intel with jz for je, and numbers with
// their sign. Text for ARM is that of GNU's tools.
//
// The modules of golang.org/x/arch decode the instructions. They lack extensions of
// ARM64 since version 8.1, among them most atomic instructions, pointer
// authentication and SVE; NEON of 32-bit ARM; and Thumb, which is refused. An
// instruction that they do not know is written as its bytes; its length is right, so
// the next one is.
//
// The functions accept arbitrary bytes. Decode must not run twice at a time, as the
// modules for ARM record their work in a variable; the others keep no state.
package asm

	.text
	.globl	raw_entry
	.type	raw_entry, %function
raw_entry:
	nop
	nop
	nop
	.size	raw_entry, .-raw_entry
	.globl	raw_bare
raw_bare:
	nop
	nop
	.section .note.GNU-stack,"",%progbits

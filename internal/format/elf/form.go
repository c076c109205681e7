package elf

// relocKinds exceeds all known types of relocations.
const relocKinds = 320

// relocForm is the operation of a relocation type: S is the address of its
// symbol, A its addend, P the relocated address.
type relocForm struct {
	op   op
	size uint8 // number of bytes that change
}

type op uint8

const (
	opUnknown op = iota
	opNothing
	opAbs     // S + A
	opRel     // S + A - P
	opAdd     // old value + (S + A)
	opSub     // old value - (S + A)
	opSet6    // S + A, in the lower six bits
	opSub6    // the lower six bits - (S + A)
	opSetUleb // S + A, with the length of the old value
	opSubUleb // old value - (S + A), with the length of the old value
)

// relocForms lists the relocation types for data of each machine. The offset of
// a TLS variable (in descriptions of variables) is treated as absolute. Types
// that only help the linker do nothing, and neither does type 0 of all
// machines.
var relocForms = map[uint16]*[relocKinds]relocForm{
	machineX86_64: &formsX86_64, machine386: &forms386,
	machineARM: &formsARM, machineARM64: &formsARM64,
	machineMIPS: &formsMIPS, machineMIPSLE: &formsMIPS,
	machinePPC: &formsPPC, machinePPC64: &formsPPC,
	machineRISCV: &formsRISCV, machineS390: &formsS390,
	machineARC: &formsARC, machineARC2: &formsARC,
	machineCSKY: &formsCSKY, machine68K: &forms68K, machineIA64: &formsIA64,
	machineSPARC: &formsSPARC, machineSPARC32Plus: &formsSPARC, machineSPARCV9: &formsSPARC,
	machineLoongArch: &formsLoongArch, machineBPF: &formsBPF, machineHexagon: &formsHexagon,
	machineAVR: &formsAVR, machineMSP430: &formsMSP430,
}

var formsX86_64 = [relocKinds]relocForm{
	1: {opAbs, 8}, 10: {opAbs, 4}, 11: {opAbs, 4}, 12: {opAbs, 2}, 14: {opAbs, 1},
	2: {opRel, 4}, 4: {opRel, 4}, 13: {opRel, 2}, 15: {opRel, 1}, 24: {opRel, 8},
	17: {opAbs, 8}, 21: {opAbs, 4}, // DTPOFF
}

var forms386 = [relocKinds]relocForm{
	1: {opAbs, 4}, 20: {opAbs, 2}, 22: {opAbs, 1},
	2: {opRel, 4}, 4: {opRel, 4}, 21: {opRel, 2}, 23: {opRel, 1},
	32: {opAbs, 4}, // TLS_LDO_32
}

var formsARM = [relocKinds]relocForm{
	2: {opAbs, 4}, 5: {opAbs, 2}, 8: {opAbs, 1}, 38: {opAbs, 4}, 55: {opAbs, 4},
	3: {opRel, 4}, 56: {opRel, 4},
	106: {opAbs, 4}, // TLS_LDO32
}

var formsARM64 = [relocKinds]relocForm{
	256: {opNothing, 0},
	257: {opAbs, 8}, 258: {opAbs, 4}, 259: {opAbs, 2},
	260: {opRel, 8}, 261: {opRel, 4}, 262: {opRel, 2}, 314: {opRel, 4},
}

var formsRISCV = [relocKinds]relocForm{
	1: {opAbs, 4}, 2: {opAbs, 8}, 57: {opRel, 4}, 59: {opRel, 4},
	54: {opAbs, 1}, 55: {opAbs, 2}, 56: {opAbs, 4},
	33: {opAdd, 1}, 34: {opAdd, 2}, 35: {opAdd, 4}, 36: {opAdd, 8},
	37: {opSub, 1}, 38: {opSub, 2}, 39: {opSub, 4}, 40: {opSub, 8},
	53: {opSet6, 1}, 52: {opSub6, 1}, 60: {opSetUleb, 1}, 61: {opSubUleb, 1},
	8: {opAbs, 4}, 9: {opAbs, 8}, // TLS_DTPREL
	43: {opNothing, 0}, 51: {opNothing, 0}, // ALIGN, RELAX
}

var formsPPC = [relocKinds]relocForm{
	38: {opAbs, 8}, 43: {opAbs, 8}, 1: {opAbs, 4}, 24: {opAbs, 4}, 3: {opAbs, 2}, 25: {opAbs, 2},
	44: {opRel, 8}, 26: {opRel, 4},
	78: {opAbs, 8}, // DTPREL
}

var formsS390 = [relocKinds]relocForm{
	22: {opAbs, 8}, 4: {opAbs, 4}, 3: {opAbs, 2}, 1: {opAbs, 1},
	23: {opRel, 8}, 5: {opRel, 4}, 16: {opRel, 2},
	52: {opAbs, 4}, 53: {opAbs, 8}, // TLS_LDO
}

var formsMIPS = [relocKinds]relocForm{
	18: {opAbs, 8}, 2: {opAbs, 4}, 1: {opAbs, 2}, 248: {opRel, 4},
	39: {opAbs, 4}, 41: {opAbs, 8}, // TLS_DTPREL
}

var formsARC = [relocKinds]relocForm{
	4: {opAbs, 4}, 2: {opAbs, 2}, 1: {opAbs, 1}, 49: {opRel, 4},
	67: {opAbs, 4}, // TLS_DTPOFF
}

var formsCSKY = [relocKinds]relocForm{
	1: {opAbs, 4}, 5: {opRel, 4},
	55: {opAbs, 4}, // TLS_LDO32
}

var forms68K = [relocKinds]relocForm{
	1: {opAbs, 4}, 2: {opAbs, 2}, 3: {opAbs, 1},
	4: {opRel, 4}, 5: {opRel, 2}, 6: {opRel, 1},
	31: {opAbs, 4}, // TLS_LDO32
}

// formsIA64 has types of their own for each byte order, the second one little
// endian. Those relative to a section are like absolute ones in debug information.
var formsIA64 = [relocKinds]relocForm{
	0x24: {opAbs, 4}, 0x25: {opAbs, 4}, 0x26: {opAbs, 8}, 0x27: {opAbs, 8},
	0x64: {opAbs, 4}, 0x65: {opAbs, 4}, 0x66: {opAbs, 8}, 0x67: {opAbs, 8},
	0x4c: {opRel, 4}, 0x4d: {opRel, 4}, 0x4e: {opRel, 8}, 0x4f: {opRel, 8},
	0xb4: {opAbs, 4}, 0xb5: {opAbs, 4}, 0xb6: {opAbs, 8}, 0xb7: {opAbs, 8}, // DTPREL
}

var formsSPARC = [relocKinds]relocForm{
	32: {opAbs, 8}, 54: {opAbs, 8}, 3: {opAbs, 4}, 23: {opAbs, 4}, 2: {opAbs, 2}, 55: {opAbs, 2}, 1: {opAbs, 1},
	46: {opRel, 8}, 6: {opRel, 4}, 5: {opRel, 2}, 4: {opRel, 1},
	76: {opAbs, 4}, 77: {opAbs, 8}, // TLS_DTPOFF
}

// formsLoongArch adds to and subtracts from zeros, like those of RISC-V.
var formsLoongArch = [relocKinds]relocForm{
	1: {opAbs, 4}, 2: {opAbs, 8}, 99: {opRel, 4}, 109: {opRel, 8},
	47: {opAdd, 1}, 48: {opAdd, 2}, 50: {opAdd, 4}, 51: {opAdd, 8},
	52: {opSub, 1}, 53: {opSub, 2}, 55: {opSub, 4}, 56: {opSub, 8},
	105: {opSet6, 1}, 106: {opSub6, 1}, 107: {opSetUleb, 1}, 108: {opSubUleb, 1},
	8: {opAbs, 4}, 9: {opAbs, 8}, // TLS_DTPREL
	100: {opNothing, 0}, 102: {opNothing, 0}, // RELAX, ALIGN
}

var formsBPF = [relocKinds]relocForm{2: {opAbs, 8}, 3: {opAbs, 4}, 4: {opAbs, 4}}

var formsHexagon = [relocKinds]relocForm{6: {opAbs, 4}, 7: {opAbs, 2}, 8: {opAbs, 1}, 31: {opRel, 4}}

var formsAVR = [relocKinds]relocForm{
	1: {opAbs, 4}, 4: {opAbs, 2}, 26: {opAbs, 1}, 36: {opRel, 4},
	30: {opNothing, 0}, 31: {opNothing, 0}, 32: {opNothing, 0}, // DIFF
}

var formsMSP430 = [relocKinds]relocForm{1: {opAbs, 4}, 5: {opAbs, 2}}

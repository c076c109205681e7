package disas

// The opcode maps of x86, sixteen opcodes to a row. Each opcode has the letter of
// what follows it:
//
//	.  nothing
//	m  ModRM and what it asks for
//	M  ModRM and a byte
//	Z  ModRM and an operand
//	s  ModRM, if the prefix 66 is there
//	S  ModRM and a byte, if the prefix 66 is there
//	b  a byte
//	w  two bytes
//	e  three bytes
//	z  an operand: four bytes, or two behind the prefix 66
//	v  the same, or eight bytes behind REX.W
//	j  the distance of a jump
//	q  eight bytes
//	o  an address as wide as addresses are
//	D  ModRM and four bytes
//	f  an operand and a segment
//	g  ModRM, of which further conditions hold: see group
//	p  the opcode, this being a legacy prefix
//	r  the opcode, this being a REX prefix
//	R  the rest of a REX2 prefix
//	V  the rest of a VEX prefix
//	E  the rest of an EVEX prefix
//	x  an opcode of the next map
//	X  an opcode of the map 0F 38
//	Y  an opcode of the map 0F 3A
//	-  nothing: the opcode is invalid

// x86One is the map of one byte in 64-bit mode.
const x86One = "" +
	"mmmmbz--mmmmbz-x" + // 00
	"mmmmbz--mmmmbz--" + // 10
	"mmmmbzp-mmmmbzp-" + // 20
	"mmmmbzp-mmmmbzp-" + // 30
	"rrrrrrrrrrrrrrrr" + // 40
	"................" + // 50
	"--EmppppzZbM...." + // 60
	"bbbbbbbbbbbbbbbb" + // 70
	"MZ-Mmmmmmmmmgggg" + // 80
	"..........-....." + // 90
	"oooo....bz......" + // A0
	"bbbbbbbbvvvvvvvv" + // B0
	"MMw.VVgge.w..b-." + // C0
	"mmmm-R-.gggggggg" + // D0
	"bbbbbbbbjj-b...." + // E0
	"p.pp..gg......gg" // F0

// x86Old is the map of one byte in 32-bit mode.
const x86Old = "" +
	"mmmmbz..mmmmbz.x" + // 00
	"mmmmbz..mmmmbz.." + // 10
	"mmmmbzp.mmmmbzp." + // 20
	"mmmmbzp.mmmmbzp." + // 30
	"................" + // 40
	"................" + // 50
	"..EmppppzZbM...." + // 60
	"bbbbbbbbbbbbbbbb" + // 70
	"MZMMmmmmmmmmgggg" + // 80
	"..........f....." + // 90
	"oooo....bz......" + // A0
	"bbbbbbbbzzzzzzzz" + // B0
	"MMw.VVgge.w..b.." + // C0
	"mmmmbb..gggggggg" + // D0
	"bbbbbbbbjjfb...." + // E0
	"p.pp..gg......gg" // F0

// x86Two is the map behind 0F.
const x86Two = "" +
	"ggmm-.....-.-m.M" + // 00
	"mmmgmmmgmmmmmmmm" + // 10
	"gggg----mmmgmmmm" + // 20
	"......-.X-Y-----" + // 30
	"mmmmmmmmmmmmmmmm" + // 40
	"gmmmmmmmmmmmmmmm" + // 50
	"mmmmmmmmmmmmssmm" + // 60
	"Mgggmmm.gm--ggmm" + // 70
	"jjjjjjjjjjjjjjjj" + // 80
	"mmmmmmmmmmmmmmmm" + // 90
	"...mMmgg...mMmgm" + // A0
	"mmgmggmmgmgmmmmm" + // B0
	"mmMgMgMg........" + // C0
	"gmmmmmggmmmmmmmm" + // D0
	"mmmmmmggmmmmmmmm" + // E0
	"gmmmmmmgmmmmmmmm" // F0

// x86Three is the map behind 0F 38.
const x86Three = "" +
	"mmmmmmmmmmmm----" + // 00
	"s---ss-s----mmm-" + // 10
	"ssssss--ssgs----" + // 20
	"ssssss-sssssssss" + // 30
	"ss--------------" + // 40
	"----------------" + // 50
	"----------------" + // 60
	"----------------" + // 70
	"sss-------mm----" + // 80
	"----------------" + // 90
	"----------------" + // A0
	"----------------" + // B0
	"--------mmmmmm-s" + // C0
	"--------m--smmmm" + // D0
	"----------------" + // E0
	"mm---mm-mmmmm---" // F0

// x86Four is the map behind 0F 3A.
const x86Four = "" +
	"--------SSSSSSSM" + // 00
	"----SSSS--------" + // 10
	"SSS-------------" + // 20
	"----------------" + // 30
	"SSS-S-----------" + // 40
	"----------------" + // 50
	"SSSS------------" + // 60
	"----------------" + // 70
	"----------------" + // 80
	"----------------" + // 90
	"----------------" + // A0
	"----------------" + // B0
	"------------M-SS" + // C0
	"---------------S" + // D0
	"----------------" + // E0
	"M---------------" // F0

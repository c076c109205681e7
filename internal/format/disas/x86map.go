package disas

// The opcode maps of x86 have sixteen opcodes in each row, as in Intel's
// manual. The character of an opcode is its form: the bytes that follow.
//
//	.  formNone          nothing
//	m  formModRM         ModRM with SIB and displacement
//	M  formModRMByte     ModRM and a byte
//	Z  formModRMSize     ModRM and an operand
//	s  formModRM66       ModRM; requires the prefix 66
//	S  formModRMByte66   ModRM and a byte; requires the prefix 66
//	b  formByte          a byte
//	w  formTwo           two bytes
//	e  formThree         three bytes
//	z  formSize          an operand: four bytes, or two after the prefix 66
//	v  formSizeWide      the same, or eight bytes after REX.W
//	j  formJump          the displacement of a jump
//	q  formEight         eight bytes
//	o  formPointer       an address
//	D  formModRMFour     ModRM and four bytes
//	f  formFar           an operand and a segment
//	g  formGroup         ModRM, under further conditions: see groupForm
//	p  formPrefix        the opcode, after this legacy prefix
//	r  formREX           the opcode, after this REX prefix
//	R  formREX2          the rest of a REX2 prefix
//	V  formVEX           the rest of a VEX prefix
//	E  formEVEX          the rest of an EVEX prefix
//	x  formMap0F         an opcode of the map 0F
//	X  formMap38         an opcode of the map 0F 38
//	Y  formMap3A         an opcode of the map 0F 3A
//	-  formInvalid       the opcode is invalid
const (
	formNone        = '.'
	formModRM       = 'm'
	formModRMByte   = 'M'
	formModRMSize   = 'Z'
	formModRM66     = 's'
	formModRMByte66 = 'S'
	formByte        = 'b'
	formTwo         = 'w'
	formThree       = 'e'
	formSize        = 'z'
	formSizeWide    = 'v'
	formJump        = 'j'
	formEight       = 'q'
	formPointer     = 'o'
	formModRMFour   = 'D'
	formFar         = 'f'
	formGroup       = 'g'
	formPrefix      = 'p'
	formREX         = 'r'
	formREX2        = 'R'
	formVEX         = 'V'
	formEVEX        = 'E'
	formMap0F       = 'x'
	formMap38       = 'X'
	formMap3A       = 'Y'
	formInvalid     = '-'
)

// x86Map1 is the map of one-byte opcodes in 64-bit mode.
const x86Map1 = "" +
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

// x86Map1Legacy is the map of one-byte opcodes in 32-bit mode.
const x86Map1Legacy = "" +
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

// x86Map0F is the map 0F.
const x86Map0F = "" +
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

// x86Map38 is the map 0F 38.
const x86Map38 = "" +
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

// x86Map3A is the map 0F 3A.
const x86Map3A = "" +
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

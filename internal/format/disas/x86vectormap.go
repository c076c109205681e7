package disas

// The opcode maps of vector prefixes, in the forms of the other maps.

// x86VEX1 is the map 0F after VEX.
const x86VEX1 = "" +
	"----------------" + // 00
	"mmmmmmmm--------" + // 10
	"--------mmmmmmmm" + // 20
	"----------------" + // 30
	"-mm-mmmm--mm----" + // 40
	"mmmmmmmmmmmmmmmm" + // 50
	"mmmmmmmmmmmmmmmm" + // 60
	"MMMMmmm.----mmmm" + // 70
	"----------------" + // 80
	"mmmm----mm------" + // 90
	"--------------m-" + // A0
	"----------------" + // B0
	"--M-MMM---------" + // C0
	"mmmmmmmmmmmmmmmm" + // D0
	"mmmmmmmmmmmmmmmm" + // E0
	"mmmmmmmmmmmmmmm-" // F0

// x86VEX2 is the map 0F 38 after VEX.
const x86VEX2 = "" +
	"mmmmmmmmmmmmmmmm" + // 00
	"---m--mmmmm-mmm-" + // 10
	"mmmmmm--mmmmmmmm" + // 20
	"mmmmmmmmmmmmmmmm" + // 30
	"mm---mmmmmmm----" + // 40
	"mmmm----mmm-m-m-" + // 50
	"------------m---" + // 60
	"--m-----mm------" + // 70
	"------------m-m-" + // 80
	"mmmm--mmmmmmmmmm" + // 90
	"------mmmmmmmmmm" + // A0
	"mm--mmmmmmmmmmmm" + // B0
	"-----------mmm-m" + // C0
	"--mm------mmmmmm" + // D0
	"mmmmmmmmmmmmmmmm" + // E0
	"--mm-mmm--------" // F0

// x86VEX3 is the map 0F 3A after VEX.
const x86VEX3 = "" +
	"MMM-MMM-MMMMMMMM" + // 00
	"----MMMMMM---M--" + // 10
	"MMM-------------" + // 20
	"MMMM----MM------" + // 30
	"MMM-M-M-MMMMM---" + // 40
	"------------MMMM" + // 50
	"MMMM----MMMMMMMM" + // 60
	"--------MMMMMMMM" + // 70
	"----------------" + // 80
	"----------------" + // 90
	"----------------" + // A0
	"----------------" + // B0
	"--------------MM" + // C0
	"--------------MM" + // D0
	"----------------" + // E0
	"M---------------" // F0

// x86EVEX1 is the map 0F after EVEX.
const x86EVEX1 = "" +
	"----------------" + // 00
	"mmmmmmmm--------" + // 10
	"--------mmmmmmmm" + // 20
	"----------------" + // 30
	"----------------" + // 40
	"-m--mmmmmmmmmmmm" + // 50
	"mmmmmmmmmmmmmmmm" + // 60
	"MMMMmmm-mmmm--mm" + // 70
	"----------------" + // 80
	"mmmm------------" + // 90
	"----------------" + // A0
	"----------------" + // B0
	"--M-MMM---------" + // C0
	"-mmmmmm-mmmmmmmm" + // D0
	"mmmmmmmmmmmmmmmm" + // E0
	"-mmmmmm-mmmmmmm-" // F0

// x86EVEX2 is the map 0F 38 after EVEX.
const x86EVEX2 = "" +
	"m---m------mmm--" + // 00
	"mmmmmmm-mmmmmmmm" + // 10
	"mmmmmmmmmmmmmm--" + // 20
	"mmmmmmmmmmmmmmmm" + // 30
	"m-mmmmmm-mmmmmmm" + // 40
	"mmmmmm--mmmm----" + // 50
	"--mmmmmmm----m--" + // 60
	"mmmmmmmmmmmmmmmm" + // 70
	"---m----mmmm-m-m" + // 80
	"mmmm--mmmmmmmmmm" + // 90
	"mmmm--mmmmmmmmmm" + // A0
	"----mmmmmmmmmmmm" + // B0
	"----m-mmm-mmmm-m" + // C0
	"--mm------m-mmmm" + // D0
	"mmmmmmmmmmmmmmmm" + // E0
	"--mm-mmm--------" // F0

// x86EVEX3 is the map 0F 3A after EVEX.
const x86EVEX3 = "" +
	"MM-MMM-MMMMM---M" + // 00
	"----MMMMMMMM-MMM" + // 10
	"MMMM-MMM--------" + // 20
	"--------MMMM--MM" + // 30
	"--MMM-----------" + // 40
	"MMMMMMMM--------" + // 50
	"------MM--------" + // 60
	"MMMM---M--------" + // 70
	"----------------" + // 80
	"----------------" + // 90
	"----------------" + // A0
	"----------------" + // B0
	"--M-----------MM" + // C0
	"----------------" + // D0
	"----------------" + // E0
	"M---------------" // F0

// x86EVEX4 is the map of legacy opcodes with additional operands after EVEX.
const x86EVEX4 = "" +
	"mmmm----mmmm----" + // 00
	"mmmm----mmmm----" + // 10
	"mmmmM---mmmmM---" + // 20
	"mmmm----mmmm----" + // 30
	"mmmmmmmmmmmmmmmm" + // 40
	"----------------" + // 50
	"mm---mm--Z-M----" + // 60
	"----------------" + // 70
	"MZ-Mmm--m-mm---m" + // 80
	"----------------" + // 90
	"-----m-------m-m" + // A0
	"----------------" + // B0
	"MM--------------" + // C0
	"mmmm----mmmmmmmm" + // D0
	"----------------" + // E0
	"mmm-mmggmm--m-mm" // F0

// x86EVEX5 is the first map of half-precision instructions after EVEX.
const x86EVEX5 = "" +
	"----------------" + // 00
	"mm------m--m-mm-" + // 10
	"----------m-mmmm" + // 20
	"----------------" + // 30
	"----------------" + // 40
	"-m------mmmmmmmm" + // 50
	"--------mmmmmmmm" + // 60
	"----m---mmmmmmm-" + // 70
	"----------------" + // 80
	"----------------" + // 90
	"----------------" + // A0
	"----------------" + // B0
	"----------------" + // C0
	"----------------" + // D0
	"----------------" + // E0
	"----------------" // F0

// x86EVEX6 is the second map of half-precision instructions after EVEX.
const x86EVEX6 = "" +
	"----------------" + // 00
	"---m------------" + // 10
	"------------mm--" + // 20
	"----------------" + // 30
	"--mm--------mmmm" + // 40
	"------mm--------" + // 50
	"----------------" + // 60
	"----------------" + // 70
	"----------------" + // 80
	"------mmmmmmmmmm" + // 90
	"------mmmmmmmmmm" + // A0
	"------mmmmmmmmmm" + // B0
	"----------------" + // C0
	"------mm--------" + // D0
	"----------------" + // E0
	"----------------" // F0

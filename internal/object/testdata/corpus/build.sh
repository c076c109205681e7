#!/bin/sh
# Makes the files of this folder from src. The paths inside are /corpus/...,
# whatever folder this runs in.
#
#   ./build.sh [REF]    # here; then ./want.py REF writes what is expected
#
# Made with gcc 12.2, clang, lld, llvm-dwp, llvm-lipo and dsymutil 14.0.6,
# binutils 2.40 (also for powerpc64-linux-gnu, s390x-linux-gnu, i686-w64-mingw32
# and, with gcc, x86_64-w64-mingw32), dwz 0.15 and elfutils 0.188. Files whose name
# ends in .xz are stored packed: the test opens them as they are.
set -eu
cd "$(dirname "$0")"
here=$PWD
# The same code with debug information that others can read, for want.py.
ref=${1:-/nonexistent}
keep() { if [ -d "$ref" ]; then cp "$1" "$ref/$2"; fi; }
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
cp -r src "$out"
cd "$out"
MAP="-ffile-prefix-map=$out=/corpus"
FREE="-ffreestanding -fno-stack-protector -fno-pic"
CXX="-std=c++14 -fno-exceptions -fno-rtti"

# units TARGET COMPILER FLAGS...: the objects of the C program, of the C++ one
units() {
	to=$1 cc=$2
	shift 2
	$cc $MAP $FREE "$@" -c src/tile.c -o "$to-tile.o"
	$cc $MAP $FREE "$@" -c src/sort.c -o "$to-sort.o"
}
units_cc() {
	to=$1 cc=$2
	shift 2
	$cc $MAP $FREE $CXX "$@" -c src/kiln.cc -o "$to-kiln.o"
	$cc $MAP $FREE $CXX "$@" -c src/unload.cc -o "$to-unload.o"
}
link() { ld.lld -e start --build-id "$@"; }

# Versions of DWARF.
for v in 2 3 4 5; do
	units c$v clang -gdwarf-$v -O2
	link c$v-tile.o c$v-sort.o -o clang-dwarf$v
	units g$v gcc -gdwarf-$v -O2
	ld -e start --build-id g$v-tile.o g$v-sort.o -o gcc-dwarf$v
done
units_cc s2 g++ -gdwarf-2 -gstrict-dwarf -O2
ld -e start --build-id s2-kiln.o s2-unload.o -o gcc-cc-strict2
units_cc k5 clang++ -gdwarf-5 -O1
link k5-kiln.o k5-unload.o -o clang-cc-dwarf5
units_cc h5 g++ -gdwarf-5 -O2
ld -e start --build-id h5-kiln.o h5-unload.o -o gcc-cc-dwarf5
units l clang -gline-tables-only -O2
link l-tile.o l-sort.o -o line-tables-only
units es clang -gdwarf-5 -gembed-source -O2
link es-tile.o es-sort.o -o embed-source
units d64 gcc -gdwarf-5 -gdwarf64 -O2
ld -e start --build-id d64-tile.o d64-sort.o -o dwarf64
units m32 gcc -m32 -gdwarf-4 -O2
ld -m elf_i386 -e start --build-id m32-tile.o m32-sort.o -o i386
units_cc lto clang++ -flto -gdwarf-5 -O2
link lto-kiln.o lto-unload.o -o lto
units nb clang -gdwarf-4 -O2
ld.lld -e start --build-id=none --image-base=0x7e0000000000 -pie nb-tile.o nb-sort.o -o no-build-id 2>/dev/null ||
	{ units nb clang -gdwarf-4 -O2 -fpie; ld.lld -e start --build-id=none --image-base=0x7e0000000000 -pie nb-tile.o nb-sort.o -o no-build-id; }

# Compressed sections.
ld -e start --build-id --compress-debug-sections=zlib g5-tile.o g5-sort.o -o zlib
objcopy --compress-debug-sections=zlib-gnu gcc-dwarf4 zlib-gnu
objcopy --compress-debug-sections=zstd gcc-dwarf5 zstd

# Type units; the C++ program, whose classes are such.
units_cc t4 g++ -gdwarf-4 -fdebug-types-section -O2
ld -e start --build-id t4-kiln.o t4-unload.o -o debug-types4
units_cc t5 clang++ -gdwarf-5 -fdebug-types-section -O2
link t5-kiln.o t5-unload.o -o debug-types5

# Split: two units each, the second of which needs the index of the .dwp.
for v in 4 5; do
	mkdir in-split$v
	(cd in-split$v && cp -r ../src . && for u in kiln unload; do
		clang++ -ffile-prefix-map=$out/in-split$v=/corpus -fdebug-compilation-dir=/corpus $FREE $CXX -gdwarf-$v -gsplit-dwarf -O2 -c src/$u.cc -o split$v-$u.o
	done && link split$v-kiln.o split$v-unload.o -o ../split$v && mv split$v-*.dwo ..)
	mkdir in-dwp$v
	(cd in-dwp$v && cp -r ../src . && for u in kiln unload; do
		clang++ -ffile-prefix-map=$out/in-dwp$v=/corpus -fdebug-compilation-dir=/corpus $FREE $CXX -gdwarf-$v -gsplit-dwarf -O2 -c src/$u.cc -o dwp$v-$u.o
	done && link dwp$v-kiln.o dwp$v-unload.o -o ../dwp$v && llvm-dwp dwp$v-kiln.dwo dwp$v-unload.dwo -o ../dwp$v.dwp)
done
# Split, with the sections of the .dwo in the object file.
for v in 4 5; do
	mkdir in-single$v
	(cd in-single$v && cp -r ../src . && for u in kiln unload; do
		clang++ -ffile-prefix-map=$out/in-single$v=/corpus -fdebug-compilation-dir=/corpus $FREE $CXX -gdwarf-$v -gsplit-dwarf=single -O2 -c src/$u.cc -o single$v-$u.o
	done && link single$v-kiln.o single$v-unload.o -o ../single$v && mv single$v-*.o ..)
done
# A .dwo of DWARF 5 with type units has several sections of one name.
mkdir in-types
(cd in-types && cp -r ../src . && for u in tile sort; do
	gcc -ffile-prefix-map=$out/in-types=/corpus $FREE -gdwarf-5 -fdebug-types-section -gsplit-dwarf -O2 -c src/$u.c -o split-types-$u.o
done && ld -e start --build-id split-types-tile.o split-types-sort.o -o ../split-types && mv split-types-*.dwo ..)

# The same without -gsplit-dwarf.
for v in 4 5; do
	mkdir in-ref$v
	(cd in-ref$v && cp -r ../src . && for u in kiln unload; do
		clang++ -ffile-prefix-map=$out/in-ref$v=/corpus -fdebug-compilation-dir=/corpus $FREE $CXX -gdwarf-$v -O2 -c src/$u.cc -o $u.o
	done && link kiln.o unload.o -o ../whole$v)
	keep whole$v split$v
	keep whole$v dwp$v
	keep whole$v single$v
	keep in-ref$v/kiln.o single$v-kiln.o
	keep in-ref$v/unload.o single$v-unload.o
done
keep gcc-dwarf5 split-types

# What dwz shares: in one file, in another one, in another one of DWARF 5 (whose
# checksum, which both have, is another one each time).
cp gcc-cc-dwarf5 dwz && dwz dwz
units_cc z4 g++ -gdwarf-4 -O2
ld -e start --build-id z4-kiln.o z4-unload.o -o dwz-multi
keep dwz-multi dwz-multi
keep gcc-cc-dwarf5 dwz
keep gcc-cc-dwarf5 dwz-sup
cp dwz-multi twin && dwz -m dwz-multi.alt -M dwz-multi.alt dwz-multi twin
cp gcc-cc-dwarf5 dwz-sup && cp gcc-cc-dwarf5 twin && dwz -5 -m dwz-sup.alt -M dwz-sup.alt dwz-sup twin

# Relocatable: an object, one with type units, one that is like a module of the
# kernel: a section for each function, joined.
cp g5-tile.o object.o
gcc $MAP $FREE -gdwarf-5 -O2 -fdebug-types-section -c src/sort.c -o object-types.o
units ko gcc -gdwarf-4 -O2 -ffunction-sections -mcmodel=kernel
echo 'SECTIONS { .text 0 : { *(.text .text.*) } }' >module.lds
ld -r ko-tile.o ko-sort.o -T module.lds -o module.ko
objcopy --add-section .modinfo=src/tile.h module.ko

# Stripped, with what was taken away beside it or packed inside of it.
cp gcc-dwarf5 debuglink && objcopy --only-keep-debug debuglink debuglink.debug && strip debuglink
objcopy --add-gnu-debuglink=debuglink.debug debuglink
objcopy --only-keep-debug gcc-dwarf5 mini && strip -g mini && xz -9 mini
keep gcc-dwarf5 debuglink
strip -g gcc-dwarf5 -o named && keep named minidebuginfo
keep gcc-dwarf5 zstd
keep gcc-dwarf4 zlib-gnu
keep g5-sort.o object-types.o
cp gcc-dwarf5 minidebuginfo && strip minidebuginfo && objcopy --add-section .gnu_debugdata=mini.xz minidebuginfo

# Other machines.
units th clang --target=armv7-linux-gnueabihf -mthumb -gdwarf-4 -O2
link th-tile.o th-sort.o -o thumb
units mi clang --target=mips-linux-gnu -gdwarf-4 -O2
link mi-tile.o mi-sort.o -o mips-be
units sz clang --target=s390x-linux-gnu -gdwarf-4 -O2
s390x-linux-gnu-ld -e start --build-id sz-tile.o sz-sort.o -o s390x-be
units pp clang --target=powerpc64-linux-gnu -mabi=elfv1 -gdwarf-4 -O2
powerpc64-linux-gnu-ld -z max-page-size=4096 -e start --build-id pp-tile.o pp-sort.o -o ppc64-elfv1
units a64 clang --target=aarch64-linux-gnu -gdwarf-5 -O2
link a64-tile.o a64-sort.o -o aarch64
units rv clang --target=riscv64-linux-gnu -mno-relax -gdwarf-5 -O2
link rv-tile.o rv-sort.o -o riscv64

# Mach-O.
for arch in x86_64 arm64; do
	units mac-$arch clang --target=$arch-apple-macos11 -gdwarf-4 -O2
	touch -d @0 mac-$arch-*.o
	lld -flavor darwin -arch $arch -platform_version macos 11 11 -dylib -undefined dynamic_lookup -oso_prefix "$out/" mac-$arch-tile.o mac-$arch-sort.o -o macho-$arch.dylib
	dsymutil --flat --oso-prepend-path="$out" macho-$arch.dylib -o macho-$arch.dsym 2>/dev/null
done
cp mac-x86_64-tile.o macho.o
llvm-lipo-14 -create macho-x86_64.dsym macho-arm64.dsym -output macho-fat.dsym
keep macho-x86_64.dsym macho-fat.dsym
keep macho-x86_64.dylib macho-fat64.dylib
# A fat file with 64-bit offsets: magic, count, and for each slice the machine,
# its variant, offset, size, log2 of the alignment and a reserved word.
python3 - macho-fat64.dylib macho-x86_64.dylib macho-arm64.dylib <<'P'
import struct, sys
slices = [open(name, "rb").read() for name in sys.argv[2:]]
head, body = struct.pack(">II", 0xCAFEBABF, len(slices)), b""
for data in slices:
    at = 0x4000 + len(body)
    head += data[7:3:-1] + data[11:7:-1] + struct.pack(">QQII", at, len(data), 14, 0)
    body += data + bytes(-len(data) % 0x4000)
open(sys.argv[1], "wb").write(head.ljust(0x4000, b"\0") + body)
P

# PE: the C program for both widths, the C++ one with other tools.
units pe64 clang --target=x86_64-w64-mingw32 -gdwarf-4 -O2
ld.lld -m i386pep -e start --subsystem console --no-insert-timestamp pe64-tile.o pe64-sort.o -o pe-x86_64.exe
units pe32 clang --target=i686-w64-mingw32 -gdwarf-4 -O2
ld.lld -m i386pe -e _start --subsystem console --no-insert-timestamp pe32-tile.o pe32-sort.o -o pe-i386.exe
units_cc pecc x86_64-w64-mingw32-g++ -gdwarf-4 -O2
x86_64-w64-mingw32-ld -e start --no-insert-timestamp pecc-kiln.o pecc-unload.o -o pe-gcc-cc.exe

# Objects of Windows with DWARF.
coff() { clang --target=$1-w64-mingw32 $MAP $FREE -gdwarf-4 -O2 -c src/$2.c -o coff-$1.o; }
coff x86_64 tile
coff i686 tile
coff aarch64 sort
coff armv7 sort

# wasm.
units w clang --target=wasm32 -gdwarf-4 -O2
wasm-ld --no-entry --export=start --allow-undefined w-tile.o w-sort.o -o wasm32.wasm
clang --target=wasm32 $MAP $FREE -gdwarf-4 -O2 -c src/sort.c -o wasm32.o

# Windows.
for arch in x86_64 i686 aarch64; do
	for u in kiln unload; do
		clang++ --target=$arch-pc-windows-msvc -ffile-compilation-dir='c:\corpus' $FREE $CXX -gcodeview -g -O2 -c src/$u.cc -o win-$arch-$u.obj
	done
	lld-link /nodefaultlib /entry:start /subsystem:console /debug /opt:ref,noicf /brepro /pdbaltpath:%_PDB% \
		'/pdbsourcepath:c:\corpus' /out:win-$arch.exe /pdb:win-$arch.pdb win-$arch-kiln.obj win-$arch-unload.obj
	keep win-$arch.exe win-$arch.exe
done
# Names of all calling conventions.
for arch in x86_64 i686 armv7; do
	clang --target=$arch-w64-mingw32 $MAP $FREE -w -gdwarf-4 -O1 -c src/call.c -o "$here/call-$arch.o"
	clang --target=$arch-pc-windows-msvc -ffile-compilation-dir='c:\corpus' $FREE -w -gcodeview -g -O1 -c src/call.c -o "$here/call-$arch.obj"
done
# The same as exports: of each linker a library without anything else.
clang --target=i686-w64-mingw32 $FREE -w -O1 -DVECTOR= -c src/call.c -o call-mingw.o
i686-w64-mingw32-ld -shared -s -e 0 --export-all-symbols --no-insert-timestamp call-mingw.o -o "$here/call-gnu.dll"
ld.lld -m i386pe -shared -s -e _all --export-all-symbols --no-insert-timestamp call-mingw.o -o "$here/call-lld.dll"
clang --target=i686-pc-windows-msvc -ffile-compilation-dir='c:\corpus' $FREE -w -gcodeview -g -O1 '-DEXPORT=__declspec(dllexport)' \
	-c src/call.c -o call-msvc.obj
lld-link /dll /noentry /debug /brepro /pdbaltpath:%_PDB% '/pdbsourcepath:c:\corpus' /out:call-msvc.dll /pdb:call-msvc.pdb call-msvc.obj
cp call-msvc.dll call-msvc.pdb "$here"
# Objects of CodeView are expected to answer as the PDB that was linked from them.
mv win-x86_64-kiln.obj win-i686-kiln.obj win-aarch64-unload.obj "$here"

for f in clang-dwarf[2-5] gcc-dwarf[2-5] gcc-cc-strict2 clang-cc-dwarf5 gcc-cc-dwarf5 line-tables-only embed-source dwarf64 i386 lto \
	no-build-id zlib zlib-gnu zstd debug-types4 debug-types5 split4 split4-*.dwo split5 split5-*.dwo dwp4 dwp4.dwp dwp5 dwp5.dwp \
	single4 single4-*.o single5 single5-*.o \
	split-types split-types-*.dwo dwz dwz-multi dwz-multi.alt dwz-sup dwz-sup.alt object.o object-types.o module.ko debuglink \
	debuglink.debug minidebuginfo thumb mips-be s390x-be ppc64-elfv1 aarch64 riscv64 macho-*.dylib macho-*.dsym macho.o pe-*.exe coff-*.o wasm32.wasm wasm32.o \
	win-*.exe win-*.pdb; do
	if strings -a "$f" | grep -qF "$out"; then echo "$f holds a path of this machine" >&2; fi
	cp "$f" "$here/$f"
done

#!/bin/sh
# Makes the profiles and the symbols of this folder from its programs; then
#
#   make clients PROFILER=DIR RECORD=--record
#
# writes the requests: what the Firefox Profiler's command-line tool sends for
# each profile.
#
# Made with gcc 12.2, rustc 1.95, go 1.26, perf 6.1, samply 0.13.1, binutils 2.40
# and zstd 1.5. The debug information is kept without the code.
set -eu
cd "$(dirname "$0")"
here=$PWD
out=/tmp/symbolon-profiles # stands in the profiles
rm -rf "$out" store
mkdir -p "$out"
cp glaze.cc bisque.rs slip.go "$out"
(cd ../../../.. && go build -o "$out/symbolon" ./cmd/symbolon)
cd "$out"

g++ -O2 -g -gdwarf-5 -fno-omit-frame-pointer "-ffile-prefix-map=$out=/src" -Wl,--build-id=sha1 -o glaze glaze.cc
# Without lld: samply 0.13.1 takes the addresses of programs that it links for
# offsets in the file.
rustc --edition 2021 -C opt-level=2 -C debuginfo=2 -C panic=abort -C force-frame-pointers=yes -C linker-features=-lld \
	"--remap-path-prefix=$out=/src" -C link-arg=-Wl,--build-id=sha1 -o bisque bisque.rs
go build -trimpath -ldflags=-compressdwarf=false -o slip slip.go

# Profilers look up the byte before what they take for a return address. For a
# handler of a signal, and for a function that the kernel interrupted at its first
# instruction, that byte is in no function: so without signals, and again if make
# clients finds one of the other kind.
export GODEBUG=asyncpreemptoff=1
for program in glaze bisque slip; do
	perf record -q -e cpu-clock -F 1999 -g -o $program.perf ./$program 2>/dev/null
	samply import $program.perf --save-only -o $program.profile.json.gz
	# Without the names of the machine and of its kernel.
	gzip -dc $program.profile.json.gz | sed -e 's/"product":"[^"]*"/"product":"'$program'"/' -e 's/"oscpu":"[^"]*"/"oscpu":"Linux"/' \
		-e 's#/usr/lib/debug/boot/vmlinux-[^"]*#[kernel.kallsyms]#' | gzip -9n >"$here/$program.profile.json.gz"
	id=$(./symbolon inspect --json $program | sed -n 's/.*"breakpad_id": *"\([^"]*\)".*/\1/p')
	mkdir -p "$here/store/$program/$id"
	objcopy --only-keep-debug $program $program.debug
	zstd -q -19 -o "$here/store/$program/$id/$program.debug.zst" $program.debug
done

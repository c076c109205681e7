#!/usr/bin/env bash
# Creates the .sym files of the recorded workload in a folder:
#
#     bench/symbols.sh DIR
#
# They come from packages of Debian 12 for amd64; each binary is joined with
# its debug file and dumped. Existing files are skipped. Needs a Rust toolchain
# unless dump_syms is installed, and 3 GB in DIR while it runs.
set -euo pipefail
[ $# = 1 ] || { echo "usage: $0 DIR" >&2; exit 2; }
mkdir -p "$1"
out=$(cd "$1" && pwd)
work=$out/.make

# list prints the name of each .sym file, its package, and the binary in it
list() {
	local lib=usr/lib/x86_64-linux-gnu
	cat <<-END
		ceph-osd ceph-osd usr/bin/ceph-osd
		ceph-mon ceph-mon usr/bin/ceph-mon
		libceph-common.so.2 librados2 $lib/ceph/libceph-common.so.2
		librados.so.2 librados2 $lib/librados.so.2.0.0
		libc.so.6 libc6 ${lib#usr/}/libc.so.6
		libm.so.6 libc6 ${lib#usr/}/libm.so.6
		libmvec.so.1 libc6 ${lib#usr/}/libmvec.so.1
		ld-linux-x86-64.so.2 libc6 ${lib#usr/}/ld-linux-x86-64.so.2
		memcheck-amd64-linux valgrind usr/libexec/valgrind/memcheck-amd64-linux
		callgrind-amd64-linux valgrind usr/libexec/valgrind/callgrind-amd64-linux
		helgrind-amd64-linux valgrind usr/libexec/valgrind/helgrind-amd64-linux
		massif-amd64-linux valgrind usr/libexec/valgrind/massif-amd64-linux
	END
}

there() { compgen -G "$out/$1/*/*.sym" >/dev/null; }

# tool COMMAND PACKAGE installs the package if the command is missing
tool() {
	command -v "$1" >/dev/null && return
	local root=
	[ "$(id -u)" = 0 ] || root=sudo
	$root apt-get install -y "$2" >&2
}

# unpacked PACKAGE extracts the package and its debug files
unpacked() {
	local package=$1 to=$work/$1 deb
	[ -e "$to.done" ] && return
	mkdir -p "$to"
	(cd "$to" && apt-get download "$package" "$package-dbg") >&2
	for deb in "$to"/*.deb; do dpkg-deb -x "$deb" "$to"; done
	touch "$to.done"
}

# dump NAME PACKAGE BINARY writes the .sym file of a binary
dump() {
	local file=$work/$2/$3 joined=$work/joined/${3##*/} id
	id=$(readelf -n "$file" | awk '/Build ID/{print $3}')
	mkdir -p "$work/joined"
	eu-unstrip -o "$joined" "$file" "$work/$2/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug"
	"$dump_syms" --inlines -j 1 -s "$work/made" "$joined"
	mv "$work/made/$1" "$out/$1" # a rename, so that no partial file is left
	rm "$joined"
}

missing=$(list | while read -r name package binary; do there "$name" || echo "$name $package $binary"; done)
if [ -n "$missing" ]; then
	tool eu-unstrip elfutils
	tool readelf binutils
	dump_syms=$(command -v dump_syms || echo "${CARGO_HOME:-$HOME/.cargo}/bin/dump_syms")
	[ -x "$dump_syms" ] || cargo install dump_syms --version 2.3.9
	mkdir -p "$work"
	while read -r name package binary <&3; do
		echo "making $name"
		unpacked "$package"
		dump "$name" "$package" "$binary"
	done 3<<<"$missing"
	rm -rf "$work"
fi

# The recorded results are for exactly these files.
total=$(cat "$out"/*/*/*.sym | wc -c)
echo "12 files, $total bytes"
[ "$total" = 277580152 ] || echo "the recorded workload has 277580152 bytes: the versions of the packages differ" >&2

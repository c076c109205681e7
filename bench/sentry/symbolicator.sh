#!/bin/bash
# Runs Sentry's Symbolicator, the program that SYMBOLICATOR names, with the arguments
# that "bench sentry" passes to "symbolon serve", so that it gets the same loads:
#
#     SYMBOLICATOR=PATH go run ./bench sentry -binary bench/sentry/symbolicator.sh ...
set -e
port=$(python3 -c 'import socket; s = socket.create_server(("127.0.0.1", 0)); print(s.getsockname()[1])')
while [ $# -gt 0 ]; do
	case $1 in
	--data) data=$2 && shift ;;
	--source) source=$2 && shift ;;
	esac
	shift
done
mkdir -p "$data"
case $source in
http*) place="{id: bench, type: http, url: '$source/', layout: {type: native}, is_public: true}" ;;
*) place="{id: bench, type: filesystem, path: '$source', layout: {type: native}, is_public: true}" ;;
esac
cat >"$data/config.yml" <<END
bind: 127.0.0.1:$port
cache_dir: $data/cache
connect_to_reserved_ips: true
logging: {level: error}
sources: [$place]
END
(
	for _ in {1..200}; do
		if (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then
			echo "listening on http://127.0.0.1:$port"
			break
		fi
		sleep 0.05
	done
) &
exec "$SYMBOLICATOR" -c "$data/config.yml" run >&2

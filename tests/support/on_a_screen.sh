#!/usr/bin/env bash
# Runs a command on a screen of its own and ends with its exit status. Unlike xvfb-run -a, which takes
# the number of a screen that another is just about to take, it leaves the choice to the server, which
# does not begin anew between two connections either (-noreset; one that comes meanwhile is refused).
# Usage: on_a_screen.sh COMMAND...
set -euo pipefail
work=$(mktemp -d)
server=
cleanup() {
  [ -z "$server" ] || { kill "$server" 2>/dev/null && wait "$server" 2>/dev/null; } || true
  rm -rf "$work"
}
trap cleanup EXIT
Xvfb -displayfd 3 -screen 0 1280x800x24 -nolisten tcp -noreset 3> "$work/display" 2> "$work/log" &
server=$!
for _ in $(seq 300); do
  [ -s "$work/display" ] && break
  kill -0 "$server" 2>/dev/null || { cat "$work/log" >&2; exit 1; }
  sleep 0.1
done
[ -s "$work/display" ] || { echo "Xvfb did not start within 30 s" >&2; exit 1; }
DISPLAY=:$(cat "$work/display") "$@"

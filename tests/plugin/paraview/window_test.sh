#!/usr/bin/env bash
# The plugin in ParaView's window. Needs a screen: tests/support/on_a_screen.sh.
# Usage: window_test.sh PARAVIEW SCRIPT WORK
set -euo pipefail
paraview=$1 script=$2 work=$3
rm -rf "$work"
mkdir -p "$work/home"
PYTHONPATH=$(dirname "$script") HOME=$work/home XDG_RUNTIME_DIR=$work/home QT_QPA_PLATFORM=xcb \
  FUNCATTN_REPORT=$work/report "$paraview" --dr --script="$script" > "$work/log" 2>&1 &
host=$!
# ParaView's handler of other signals writes a report, and may wait for ever for a lock it holds.
trap 'kill -KILL "$host" 2>/dev/null || true; wait' EXIT

for _ in $(seq 2400); do
  [ -e "$work/report" ] && break
  kill -0 "$host" 2>/dev/null || { cat "$work/log" >&2; echo "ParaView ended" >&2; exit 1; }
  sleep 0.1
done
diff "$work/report" <(printf 'plugin loaded: True\nvalues: 30\n') || { cat "$work/log" >&2; exit 1; }
kill -0 "$host"

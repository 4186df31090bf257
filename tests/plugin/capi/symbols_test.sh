#!/usr/bin/env bash
# The library exports the functions of its header, each one and nothing else, and says by which name
# programs look for it. Usage: symbols_test.sh LIBRARY HEADER
set -euo pipefail
exported=$(nm -D --defined-only "$1" | awk '$2 != "A" {sub(/@.*/, "", $3); print $3}' | sort)
declared=$(tr '\n' ' ' < "$2" | sed -E 's#/\*([^*]|\*[^/])*\*/##g' |
  grep -oE 'FUNCATTN_API [^;(]*\(' | grep -oE 'funcattn_[a-z_0-9]+\($' | tr -d '(' | sort)
[ "$(wc -l <<< "$declared")" -ge 30 ]
diff <(echo "$declared") <(echo "$exported")
readelf -d "$1" | grep 'SONAME.*\[libfuncattn.so.0\]' > /dev/null

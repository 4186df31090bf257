#!/usr/bin/env bash
# The Fortran module declares every function of the C header with as many arguments, and the same
# numbers under the same names. Usage: fortran_module_test.sh HEADER MODULE
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tr '\n' ' ' < "$1" | sed -E 's#/\*([^*]|\*[^/])*\*/##g; s/  +/ /g' > "$work/header"
sed -E ':join; /&$/ {N; s/&\n */ /; b join}' "$2" | sed -E 's/  +/ /g' > "$work/module"

# name, number of arguments
grep -oE 'FUNCATTN_API [^;]*;' "$work/header" | grep -oE 'funcattn_[a-z_]+\([^)]*\)' |
  awk -F'[()]' '{print $1, ($2 == "void" ? 0 : split($2, ignored, ","))}' | sort > "$work/in_header"
grep -E '^ (function|subroutine) .*bind\(C\)' "$work/module" | grep -oE 'funcattn_[a-z_]+ *\([^)]*\)' |
  awk -F'[()]' '{print $1, split($2, ignored, ",")}' | sort > "$work/in_module"
[ "$(wc -l < "$work/in_header")" -ge 30 ]
diff "$work/in_header" "$work/in_module"

grep -oE 'FUNCATTN_[A-Z0-9_]+ = [0-9]+' "$work/header" | tr 'A-Z' 'a-z' | sort > "$work/numbers_of_header"
grep -oE 'parameter :: funcattn_[a-z0-9_]+ = [0-9]+' "$work/module" | sed 's/parameter :: //' |
  grep -v version_of_module | sort > "$work/numbers_of_module"
[ "$(wc -l < "$work/numbers_of_header")" -ge 20 ]
diff "$work/numbers_of_header" "$work/numbers_of_module"

version=$(grep -oE 'FUNCATTN_VERSION_(MAJOR|MINOR|PATCH) [0-9]+' "$1" | awk '{n = n * 100 + $2} END {print n}')
grep -q "funcattn_version_of_module = $version\$" "$2"

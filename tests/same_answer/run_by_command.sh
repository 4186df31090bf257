#!/usr/bin/env bash
# The command as a front end. Usage: run_by_command.sh FUNCATTN PRINT_PREDICTION OPERATOR MESH
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
result=$folder/result.${4##*.}
"$1" run "$4" --operator "$3" --output "$result" --threads 1 > "$folder/log"
"$2" "$result"

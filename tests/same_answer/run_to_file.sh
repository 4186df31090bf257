#!/usr/bin/env bash
# A front end that writes a file, which is then printed. Usage: run_to_file.sh PRINT_PREDICTION MESH
# COMMAND...; the word RESULT in COMMAND stands for the file to write.
set -euo pipefail
print=$1 mesh=$2
shift 2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
result=$folder/result.${mesh##*.}
"${@/#RESULT/$result}" > "$folder/log"
"$print" "$result"

#!/usr/bin/env bash
# Runs the blocks of a page that begin with ```sh installed, in a folder that has the project's data/
# and examples/ beside it, where the prefix comes first in all search paths.
# Usage: docs_test.sh PAGE PREFIX SOURCE WORK
set -euo pipefail
page=$1 prefix=$2 source=$3 work=$4
rm -rf "$work"
mkdir -p "$work"
awk '/^```sh installed/ {on = 1; next} /^```/ {on = 0} on' "$page" > "$work/commands"
[ -s "$work/commands" ] || { echo "$page has no commands to run" >&2; exit 1; }
cp -r "$source/data" "$source/examples" "$work"
cd "$work"
library=$(dirname "$(find "$prefix" -name libfuncattn.so)")
export PREFIX=$prefix PATH=$prefix/bin:$PATH PKG_CONFIG_PATH=$library/pkgconfig LD_LIBRARY_PATH=$library
bash -euxo pipefail commands

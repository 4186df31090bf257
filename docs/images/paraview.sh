#!/usr/bin/env bash
# Makes docs/images/paraview.png: ParaView's window with the filter in its pipeline.
# usage: docs/images/paraview.sh [PNG]   after ./dev setup --paraview and ./dev build
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
picture=${1:-docs/images/paraview.png}
work=$(mktemp -d)
server=
host=
cleanup() {
  [ -z "$host" ] || kill -KILL "$host" 2>/dev/null || true
  [ -z "$server" ] || kill "$server" 2>/dev/null || true
  wait 2>/dev/null || true
  rm -rf "$work"
}
trap cleanup EXIT

paraview=build/paraview-run/usr/bin/paraview
[ -x "$paraview" ] || paraview=$(command -v paraview)
plugin=$(find build/release/paraview -name NeuralOperator.so | head -n 1)
[ -n "$plugin" ] || { echo "the plugin is not built" >&2; exit 1; }

Xvfb -displayfd 4 -screen 0 1280x1000x24 -fbdir "$work" -nolisten tcp -noreset 4> "$work/display" 2>/dev/null &
server=$!
for _ in $(seq 50); do [ -s "$work/display" ] && break; sleep 0.2; done

# A window that is high enough for what the filter is set by.
mkdir -p "$work/home/.config/ParaView"
cat > "$work/home/.config/ParaView/ParaView5.11.0.ini" <<'END'
[General]
GeneralSettings.ShowWelcomeDialog=false

[MainWindow]
Position=@Point(0 0)
Size=@Size(1152 960)
END
HOME=$work/home XDG_RUNTIME_DIR=$work/home DISPLAY=:$(cat "$work/display") QT_QPA_PLATFORM=xcb \
  FUNCATTN_PARAVIEW_PLUGIN=$PWD/$plugin FUNCATTN_OPERATOR=$PWD/data/sine.safetensors \
  FUNCATTN_READY=$work/ready FUNCATTN_MESH=$PWD/data/meshes/line.vtp \
  "$paraview" --script=docs/images/paraview_pipeline.py \
  > "$work/log" 2>&1 &
host=$!
for _ in $(seq 240); do
  [ -e "$work/ready" ] && break
  kill -0 "$host" || { cat "$work/log" >&2; exit 1; }
  sleep 0.5
done
[ -e "$work/ready" ] || { echo "ParaView did not get ready within two minutes" >&2; exit 1; }
sleep 5  # The panels are drawn after the script, and nothing says when.
/usr/bin/python3 docs/images/window_picture.py "$work/Xvfb_screen0" "$picture"

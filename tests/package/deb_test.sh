#!/usr/bin/env bash
# Makes the Debian package of the build, looks at its fields, unpacks it into a clean prefix and uses
# it there: the command, the C library through pkg-config and CMake, and the Python module where it
# was built. Usage: deb_test.sh BUILD SOURCE WORK
set -euo pipefail
build=$(realpath "$1") source=$2 work=$3
rm -rf "$work"
mkdir -p "$work"
cd "$work"
cpack --config "$build/CPackConfig.cmake" -G DEB -B "$work/cpack" > cpack.log 2>&1 ||
  { cat cpack.log >&2; exit 1; }
deb=$(echo "$work"/cpack/funcattn_*.deb)

field() { dpkg-deb -f "$deb" "$1"; }
# has FIELD PATTERN
has() {
  field "$1" | grep -E "$2" > /dev/null && return
  echo "$1 of the package is '$(field "$1")', expected $2" >&2
  exit 1
}
has Package '^funcattn$'
has Version '^[0-9]+\.[0-9]+\.[0-9]+$'
has Architecture "^$(dpkg --print-architecture)\$"
has Section '^science$'
has Maintainer '^.+ <.+@.+>$'
has Depends 'libtorch1\.13'
has Depends 'libvtk9\.1'
has Depends 'libc6 \(>= '
has Depends 'libboost-program-options'
has Recommends 'libopenblas0-openmp'
[ "$(field Installed-Size)" -gt 1000 ]

dpkg-deb -x "$deb" root
dpkg-deb -e "$deb" control
grep -q '^libfuncattn 0 funcattn' control/shlibs
grep -qs ldconfig control/triggers || grep -q ldconfig control/postinst
usr=$work/root/usr
[ -s "$usr/share/doc/funcattn/copyright" ]
zcat "$usr/share/doc/funcattn/changelog.gz" | dpkg-parsechangelog -l - -S Version | grep -x "$(field Version)" > /dev/null
# Nothing outside /usr, and no text file that knows where it was built.
[ "$(ls root)" = usr ] && [ ! -e "$usr/local" ]
if grep -rlI -e "$source" -e "$build" "$usr"; then
  echo "these files of the package name the folder of the sources or of the build" >&2
  exit 1
fi
# A path relative to the file itself, as Python's module has, works in every prefix.
find "$usr" -name '*.so*' -type f -o -path '*/bin/*' -type f | while read -r binary; do
  if readelf -d "$binary" | grep -E 'R(UN)?PATH' | grep -vF '[$ORIGIN/'; then echo "$binary has a path of its own" >&2; exit 1; fi
done
if command -v lintian > lintian.log; then
  lintian --fail-on error "$deb" | tee lintian.log
else
  echo "lintian is not installed: the package was not judged by it"
fi

library=$(dirname "$(find "$usr" -name libfuncattn.so)")
export PATH=$usr/bin:$PATH LD_LIBRARY_PATH=$library PKG_CONFIG_PATH=$library/pkgconfig
[ "$(command -v funcattn)" = "$usr/bin/funcattn" ]
funcattn run "$source/data/meshes/line.vtp" --operator "$source/data/sine.safetensors" \
  --output predicted.vtp --error-against y --threads 1 | tee run.log
[ -s predicted.vtp ]
[ "$(pkg-config --modversion funcattn)" = "$(field Version)" ]

# shellcheck disable=SC2046
cc -std=c99 "$source/examples/solver_c/solver.c" $(pkg-config --cflags --libs funcattn) -lm -o solver_c
./solver_c "$source/data/sine.safetensors" | tail -n 1
mkdir consumer
cat > consumer/CMakeLists.txt << 'END'
cmake_minimum_required(VERSION 3.18)
project(consumer LANGUAGES C)
find_package(funcattn 0.1 REQUIRED COMPONENTS c)
add_executable(solver_c ${SOURCE}/examples/solver_c/solver.c)
target_link_libraries(solver_c PRIVATE funcattn::c m)
END
cmake -S consumer -B consumer/build -G Ninja -DCMAKE_PREFIX_PATH="$usr" -DSOURCE="$source" > consumer.log
cmake --build consumer/build >> consumer.log
consumer/build/solver_c "$source/data/sine.safetensors" | tail -n 1
ldd consumer/build/solver_c | grep "$library/libfuncattn.so.0" > /dev/null

if [ -d "$usr/lib/python3/dist-packages/funcattn" ]; then
  has Depends 'python3-vtk9'
  PYTHONPATH=$usr/lib/python3/dist-packages /usr/bin/python3 -c "
import funcattn
assert funcattn.__file__.startswith('$usr'), funcattn.__file__
print('Python module', funcattn.__file__)"
else
  echo "the Python module was not built: it is not in the package"
fi

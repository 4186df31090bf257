# Results of formats that are only read get the extension of a format that is written.
. "$(dirname "$0")/checks.sh"

points() {
  printf 'ply\nformat ascii 1.0\nelement vertex 4\nproperty double x\nproperty double y\nproperty double z\n'
  printf 'property double known\nproperty double v\nend_header\n'
  printf '0 0 0 1 0.5\n0.25 0 0 1 1\n0.75 0 0 0 0\n1 0 0 1 2\n'
}
line=(--operator "$FIXTURES/line_of_v.safetensors")
points >car.v2.ply
points >b.ply
points >mesh.vtu.ply

# A dot in the name makes no extension.
expect 0 run car.v2.ply mesh.vtu.ply "${line[@]}"
expect_file car.v2_predicted.vtp
expect_file mesh.vtu_predicted.vtp
expect_no_file car.v2_predicted
expect_no_file car.vtp

# A folder of the same name is no obstacle, a folder of the result's name is.
mkdir -p out/b out/car.v2.vtp
expect 0 run b.ply mesh.vtu.ply "${line[@]}" -o out/
expect_file out/b.vtp
expect_file out/mesh.vtu.vtp
expect 1 run car.v2.ply "${line[@]}" -o out
expect_error "'out/car.v2.vtp'.* folder"
expect 1 run car.v2.ply "${line[@]}" -o out --dry-run
expect_error "'out/car.v2.vtp'.* folder"
expect_nothing_hidden out

# What a collection says of its files stays with the results.
cat >named.pvd <<'EOF'
<VTKFile type="Collection" version="0.1"><Collection>
  <DataSet timestep="0.5" group="rake" part="3" name="inlet &amp; outlet" file="b.ply"/>
  <DataSet timestep="1.5" file="car.v2.ply"/>
</Collection></VTKFile>
EOF
expect 0 run named.pvd "${line[@]}"
grep -q 'timestep="0.5" group="rake" part="3" name="inlet &amp; outlet" file="named_predicted_0000.vtp"' \
  named_predicted.pvd || fail "$(cat named_predicted.pvd)"
grep -q 'timestep="1.5" group="" part="0" file="named_predicted_0001.vtp"' named_predicted.pvd ||
  fail "$(cat named_predicted.pvd)"

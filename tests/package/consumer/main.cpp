// A program outside the project: a trained operator applied to a mesh made in memory.
#include <funcattn/meshio/writer.h>
#include <funcattn/plugin/stage.h>

#include <cmath>
#include <iostream>

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: consumer OPERATOR OUTPUT.vtp\n";
    return 2;
  }
  using namespace funcattn;
  constexpr int points = 101;
  RowMatrix coordinates = RowMatrix::Zero(points, 3);
  RowMatrix known = RowMatrix::Zero(points, 1);
  RowMatrix value = RowMatrix::Zero(points, 1);
  for (int i = 0; i < points; ++i) coordinates(i, 0) = -6 + 0.12 * i;
  for (const int i : {10, 35, 60, 85}) {
    known(i, 0) = 1;
    value(i, 0) = 2 * std::sin(coordinates(i, 0) - 0.5);
  }
  const Mesh mesh = make_polyline(coordinates, "line")
                        .with_array({"context", Association::point, 1, ""}, known)
                        .with_array({"y_context", Association::point, 1, ""}, value);
  const StageResult result = run(mesh, argv[1]);
  write_mesh(result.mesh, argv[2]);

  double largest = 0;
  const RowMatrix y = result.mesh.array("y_predicted", Association::point).to_double();
  for (int i = 0; i < points; ++i)
    largest = std::max(largest, std::abs(y(i, 0) - 2 * std::sin(coordinates(i, 0) - 0.5)));
  std::cout << "largest error " << largest << "\n";
  return largest < 0.02 ? 0 : 1;
}

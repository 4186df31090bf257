// Prints the predictions that a mesh file holds, for front ends that write files.

#include <iostream>

#include "meshio/reader.h"
#include "tests/same_answer/prediction_text.h"

int main(int argc, char** argv) {
  try {
    if (argc != 2) throw std::runtime_error("usage: print_prediction MESH");
    std::cout << funcattn::test::prediction_text(funcattn::read_mesh_tree(argv[1]));
    return 0;
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}

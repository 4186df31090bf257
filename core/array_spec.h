#pragma once

#include <string>

namespace funcattn {

/// Where the values of an array sit on a mesh.
enum class Association { point, cell };

/// "point" or "cell".
inline const char* to_string(Association association) {
  return association == Association::point ? "point" : "cell";
}

/// What an operator needs to know of an array that it reads or writes; name and association
/// together identify an array, its length never does.
struct ArraySpec {
  std::string name;
  Association association = Association::point;
  int components = 1;
  std::string unit;  ///< As recorded in the training data; empty where unknown.
};

}  // namespace funcattn

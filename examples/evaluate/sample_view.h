#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "meshio/mesh.h"

namespace funcattn {

/// What a picture shows of a mesh, in the plane of the picture.
struct ViewShape {
  enum class Kind {
    curve,  ///< Extended along one axis.
    plane,  ///< Along two: as it lies.
    body    ///< Along three: seen obliquely, along the shortest principal axis where it is flat.
  };
  /// A polygon, or a point where there is one corner.
  struct Part {
    std::vector<std::pair<double, double>> corners;
    std::vector<std::size_t> entries;  ///< Whose mean colours it: points, or a cell.
    double light = 1;                  ///< By which its colour is darkened: 1 faces the light.
  };

  Kind kind = Kind::curve;
  std::vector<double> x;             ///< Of the entries of a curve, which has no parts.
  std::vector<Part> parts;           ///< The farthest first.
  std::string horizontal, vertical;  ///< The axes of a plane.
};

/// At most so many triangles of a body are drawn: of a finer one those of a simplified surface,
/// with the values of the nearest entries.
inline constexpr std::size_t most_body_triangles = 20000;

/// The faces of a surface, the outer surface of solids, or the entries as points where there is
/// neither, or where a plane has more than 100,000 triangles.
ViewShape view_shape(const Mesh& mesh, Association association);

/// One sample as a picture shows it: truth and predictions of one array over its entries.
struct SampleView {
  struct Prediction {
    std::string name;  ///< Of the operator.
    std::vector<double> values;
    std::vector<double> error;  ///< >= 0; not needed of curves.
  };
  std::string title;
  std::string field;  ///< The array; one picture each.
  std::shared_ptr<const ViewShape> shape;
  std::vector<double> truth;
  std::vector<Prediction> predictions;
  bool are_classes = false;  ///< Numbers of classes: between 1 and 3 there is no 2.
  std::vector<std::pair<double, double>> context;  ///< x and value of the points given, of curves.
};

/// One number per entry for an array of several components: the length of a vector, with that of
/// the difference as its error, or, where the truth is a class at every entry (one component 1, the
/// others 0), the number of the largest component, with the error 1 where it is not the right one.
struct ViewValues {
  std::vector<double> truth, predicted, error;
  std::string name;  ///< "u", "|u|" or "class of u"
  bool are_classes = false;
};

/// @param truth, predicted [entries, components]; entries without truth hold NaN
ViewValues view_values(const std::string& name, const RowMatrix& truth, const RowMatrix& predicted);
/// Where the values are classes: an error is 1, however far their numbers are apart, and there is
/// neither truth nor error where the true class is not known.
void make_classes(ViewValues& values, const Eigen::Array<bool, Eigen::Dynamic, 1>& is_known);

}  // namespace funcattn

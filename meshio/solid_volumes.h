#pragma once

#include <cmath>
#include <cstdint>

/// Loops over cells are vectorised only where all that they call is part of them.
#define FUNCATTN_INLINE inline __attribute__((always_inline))

namespace funcattn {

/// Coordinates of a solid's corners along one axis, relative to corner 0; corner i is at i *
/// stride.
template <int stride>
struct CornerAxis {
  const double* at;
  FUNCATTN_INLINE double operator[](int corner) const { return at[corner * stride]; }
};

/// a . (b x c)
FUNCATTN_INLINE double triple_product(double ax, double ay, double az, double bx, double by,
                                      double bz, double cx, double cy, double cz) {
  return ax * (by * cz - bz * cy) + ay * (bz * cx - bx * cz) + az * (bx * cy - by * cx);
}

template <int stride>
FUNCATTN_INLINE double tetrahedron_volume(CornerAxis<stride> x, CornerAxis<stride> y,
                                          CornerAxis<stride> z) {
  return std::abs(triple_product(x[1], y[1], z[1], x[2], y[2], z[2], x[3], y[3], z[3])) / 6;
}

/// Corners in VTK's order. The exact integral of the trilinear map in closed form (Dukowicz,
/// "Efficient volume computation for three-dimensional hexahedral cells", J. Comput. Phys. 74,
/// 1988).
template <int stride>
FUNCATTN_INLINE double hexahedron_volume(CornerAxis<stride> x, CornerAxis<stride> y,
                                         CornerAxis<stride> z) {
  struct Combined {
    FUNCATTN_INLINE explicit Combined(CornerAxis<stride> p)
        : a(p[6] - p[1] + p[7]),
          b(p[6] - p[3]),
          c(p[6] - p[3] + p[5]),
          d(p[6] - p[4]),
          e(p[6] - p[1]),
          f(p[6] - p[4] + p[2]) {}
    double a, b, c, d, e, f;
  };
  const Combined u(x), v(y), w(z);
  return std::abs(triple_product(u.a, v.a, w.a, u.b, v.b, w.b, x[2], y[2], z[2]) +
                  triple_product(x[7], y[7], z[7], u.c, v.c, w.c, u.d, v.d, w.d) +
                  triple_product(u.e, v.e, w.e, x[5], y[5], z[5], u.f, v.f, w.f)) /
         12;
}

/// Cells of one type that are measured together.
inline constexpr int kCellsPerBlock = 32;

/// Volumes of kCellsPerBlock tetrahedra (4 corners) or hexahedra (8 corners). False, and nothing is
/// done, where an id is not in [0, point_count). Id is int or long long.
/// @param coordinates [point_count, 3]
/// @param ids [kCellsPerBlock, corners]
/// @param volumes [kCellsPerBlock]
template <int corners, class Id>
bool block_volumes(const double* coordinates, std::int64_t point_count, const Id* ids,
                   double* volumes);

}  // namespace funcattn

#include "meshio/solid_volumes.h"

#include "meshio/id_range.h"

namespace funcattn {

namespace {

// Compiled once more for processors with wider registers. Multiplication and addition are not
// contracted there, so that all processors give the same bits.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define FUNCATTN_WIDE __attribute__((target_clones("avx2", "default")))
#else
#define FUNCATTN_WIDE
#endif

constexpr int kLanes = 8;

template <int corners, class Id>
FUNCATTN_INLINE bool volumes_of(const double* coordinates, std::int64_t point_count, const Id* ids,
                                double* volumes) {
  if (!ids_are_inside(ids, corners * kCellsPerBlock, point_count)) return false;
  alignas(64) double x[corners * kLanes];
  alignas(64) double y[corners * kLanes];
  alignas(64) double z[corners * kLanes];
  for (int first = 0; first < kCellsPerBlock; first += kLanes) {
    for (int lane = 0; lane < kLanes; ++lane) {
      const Id* cell = ids + (first + lane) * corners;
      const double* origin = coordinates + 3 * cell[0];
      for (int corner = 1; corner < corners; ++corner) {
        const double* point = coordinates + 3 * cell[corner];
        x[corner * kLanes + lane] = point[0] - origin[0];
        y[corner * kLanes + lane] = point[1] - origin[1];
        z[corner * kLanes + lane] = point[2] - origin[2];
      }
    }
    for (int lane = 0; lane < kLanes; ++lane) {
      const CornerAxis<kLanes> along_x{x + lane}, along_y{y + lane}, along_z{z + lane};
      volumes[first + lane] = corners == 8 ? hexahedron_volume(along_x, along_y, along_z)
                                           : tetrahedron_volume(along_x, along_y, along_z);
    }
  }
  return true;
}

FUNCATTN_WIDE bool tetrahedra(const double* coordinates, std::int64_t points, const int* ids,
                              double* volumes) {
  return volumes_of<4>(coordinates, points, ids, volumes);
}
FUNCATTN_WIDE bool tetrahedra(const double* coordinates, std::int64_t points, const long long* ids,
                              double* volumes) {
  return volumes_of<4>(coordinates, points, ids, volumes);
}
FUNCATTN_WIDE bool hexahedra(const double* coordinates, std::int64_t points, const int* ids,
                             double* volumes) {
  return volumes_of<8>(coordinates, points, ids, volumes);
}
FUNCATTN_WIDE bool hexahedra(const double* coordinates, std::int64_t points, const long long* ids,
                             double* volumes) {
  return volumes_of<8>(coordinates, points, ids, volumes);
}

}  // namespace

template <int corners, class Id>
bool block_volumes(const double* coordinates, std::int64_t point_count, const Id* ids,
                   double* volumes) {
  if constexpr (corners == 8)
    return hexahedra(coordinates, point_count, ids, volumes);
  else
    return tetrahedra(coordinates, point_count, ids, volumes);
}

template bool block_volumes<4, int>(const double*, std::int64_t, const int*, double*);
template bool block_volumes<8, int>(const double*, std::int64_t, const int*, double*);
template bool block_volumes<4, long long>(const double*, std::int64_t, const long long*, double*);
template bool block_volumes<8, long long>(const double*, std::int64_t, const long long*, double*);

}  // namespace funcattn

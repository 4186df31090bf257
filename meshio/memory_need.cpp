#include "meshio/memory_need.h"

#include <sys/resource.h>
#include <vtkDataArray.h>
#include <vtkPointData.h>

#include <algorithm>
#include <cmath>

#include "core/byte_size.h"
#include "core/error.h"
#include "core/text.h"

namespace funcattn {

namespace {

double available_bytes() {
  double bytes = memory_of_machine();
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    bytes = std::min(bytes, static_cast<double>(limit.rlim_cur));
  return bytes;
}

}  // namespace

void require_memory(vtkDataSet* data, double points, double cells_per_point, int cell_points) {
  double bytes = 3 * sizeof(double);
  for (int i = 0; i < data->GetPointData()->GetNumberOfArrays(); ++i)
    if (auto* array = vtkDataArray::SafeDownCast(data->GetPointData()->GetAbstractArray(i)))
      bytes += array->GetDataTypeSize() * array->GetNumberOfComponents();
  bytes += cells_per_point * (cell_points + 1) * static_cast<double>(sizeof(vtkIdType));
  const double needed = points * bytes;
  if (needed <= available_bytes()) return;
  throw DataError("it would have about " + format_significant(points, 3) +
                  " points, which need more than " + format_bytes(needed) + ", of " +
                  format_bytes(available_bytes()) + " in this machine; ask for fewer");
}

}  // namespace funcattn

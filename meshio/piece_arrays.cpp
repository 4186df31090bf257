#include "meshio/piece_arrays.h"

#include <vtkAbstractArray.h>
#include <vtkCellData.h>
#include <vtkDataArraySelection.h>
#include <vtkPointData.h>
#include <vtkPolyData.h>
#include <vtkUnsignedCharArray.h>

#include <algorithm>
#include <array>

#include "core/error.h"

namespace funcattn {

namespace {

bool holds_ghost_flags(const std::string& name) {
  return name == vtkDataSetAttributes::GhostArrayName();
}

std::vector<std::string> uncopied_of(const XmlElement* section, bool overlap) {
  std::vector<std::string> names;
  if (!section) return names;
  for (const XmlElement& array : section->children) {
    const std::string type = array.attribute("type");
    const std::string name = array.attribute("Name");
    if (type == "Bit" || type == "String" || (overlap && holds_ghost_flags(name)))
      names.push_back(name);
  }
  return names;
}

void remove_all(const std::vector<std::string>& unwanted, std::vector<std::string>& names) {
  for (const std::string& name : unwanted)
    names.erase(std::remove(names.begin(), names.end(), name), names.end());
}

constexpr double all_flags = 0xFF;

/// Where each point or cell of a piece is in the whole; -1: nowhere.
using Places = std::vector<vtkIdType>;

Places structured_places(const Extent& piece, const Extent& whole, bool of_cells) {
  std::array<std::int64_t, 3> count{};
  std::array<std::int64_t, 3> total{};
  std::array<std::int64_t, 3> first{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const auto length = [&](const Extent& extent) {
      return of_cells && extent.points(axis) > 1 ? extent.points(axis) - 1 : extent.points(axis);
    };
    count[axis] = length(piece);
    total[axis] = length(whole);
    first[axis] = piece.bounds[2 * axis] - whole.bounds[2 * axis];
    // A piece that is flat where the whole is not has cells of another kind.
    if (of_cells && piece.points(axis) == 1 && whole.points(axis) > 1)
      return Places(static_cast<std::size_t>(piece.cells()), -1);
  }
  Places places;
  for (std::int64_t k = 0; k < count[2]; ++k)
    for (std::int64_t j = 0; j < count[1]; ++j)
      for (std::int64_t i = 0; i < count[0]; ++i)
        places.push_back((first[0] + i) + total[0] * ((first[1] + j) + total[1] * (first[2] + k)));
  return places;
}

/// Cells of each kind, in the order in which vtkPolyData numbers them.
std::vector<vtkIdType> cells_by_kind(vtkDataSet* data) {
  auto* surface = vtkPolyData::SafeDownCast(data);
  if (!surface) return {data->GetNumberOfCells()};
  return {surface->GetNumberOfVerts(), surface->GetNumberOfLines(), surface->GetNumberOfPolys(),
          surface->GetNumberOfStrips()};
}

/// Pieces one behind the other, kind by kind.
class Appended {
 public:
  explicit Appended(const std::vector<vtkIdType>& totals) {
    vtkIdType before = 0;
    for (const vtkIdType total : totals) {
      next_.push_back(before);
      before += total;
    }
  }

  Places next_piece(const std::vector<vtkIdType>& counts) {
    Places places;
    for (std::size_t kind = 0; kind < counts.size(); ++kind)
      for (vtkIdType i = 0; i < counts[kind]; ++i) places.push_back(next_[kind]++);
    return places;
  }

 private:
  std::vector<vtkIdType> next_;
};

void bring_over(vtkDataSetAttributes* from, const Places& places,
                const std::vector<std::string>& names, vtkIdType total, vtkDataSetAttributes* to) {
  if (places.empty()) return;  // A piece without points or cells may lack the arrays.
  for (const std::string& name : names) {
    vtkAbstractArray* source = from->GetAbstractArray(name.c_str());
    if (!source || source->GetNumberOfTuples() != static_cast<vtkIdType>(places.size()))
      throw DataError("VTK could not read the array '" + name + "' of one of its pieces");
    vtkAbstractArray* target = to->GetAbstractArray(name.c_str());
    if (!target) {
      const auto made = vtkSmartPointer<vtkAbstractArray>::Take(source->NewInstance());
      made->SetName(name.c_str());
      made->SetNumberOfComponents(source->GetNumberOfComponents());
      made->SetNumberOfTuples(total);
      to->AddArray(made);
      target = made;
      if (holds_ghost_flags(name)) vtkDataArray::SafeDownCast(made)->Fill(all_flags);
    }
    auto* flags = holds_ghost_flags(name) ? vtkUnsignedCharArray::SafeDownCast(target) : nullptr;
    auto* flags_here = vtkUnsignedCharArray::SafeDownCast(source);
    if (flags && flags_here) {  // A place is a ghost where it is one for all pieces.
      for (std::size_t i = 0; i < places.size(); ++i)
        if (places[i] >= 0)
          flags->SetValue(places[i], flags->GetValue(places[i]) &
                                         flags_here->GetValue(static_cast<vtkIdType>(i)));
      continue;
    }
    for (std::size_t i = 0; i < places.size(); ++i)
      if (places[i] >= 0) target->SetTuple(places[i], static_cast<vtkIdType>(i), source);
  }
}

}  // namespace

UncopiedArrays::UncopiedArrays(const XmlElement* point_data, const XmlElement* cell_data,
                               bool overlap)
    : point_arrays_(uncopied_of(point_data, overlap)),
      cell_arrays_(uncopied_of(cell_data, overlap)) {}

void UncopiedArrays::leave_out(vtkXMLReader* reader, DeclaredContents& declared) const {
  for (const std::string& name : point_arrays_)
    reader->GetPointDataArraySelection()->DisableArray(name.c_str());
  for (const std::string& name : cell_arrays_)
    reader->GetCellDataArraySelection()->DisableArray(name.c_str());
  remove_all(point_arrays_, declared.point_arrays);
  remove_all(cell_arrays_, declared.cell_arrays);
}

void UncopiedArrays::add_to(vtkDataSet* data, const std::vector<Extent>& extents,
                            const Extent& whole, const ReadPiece& read_piece) const {
  Appended points({data->GetNumberOfPoints()});
  Appended cells(cells_by_kind(data));
  const bool structured = whole.points() > 0;
  for (std::size_t i = 0; i < extents.size(); ++i) {
    if (structured && extents[i].points() == 0) continue;
    const auto piece = read_piece(i);
    bring_over(piece->GetPointData(),
               structured ? structured_places(extents[i], whole, false)
                          : points.next_piece({piece->GetNumberOfPoints()}),
               point_arrays_, data->GetNumberOfPoints(), data->GetPointData());
    bring_over(piece->GetCellData(),
               structured ? structured_places(extents[i], whole, true)
                          : cells.next_piece(cells_by_kind(piece)),
               cell_arrays_, data->GetNumberOfCells(), data->GetCellData());
  }
}

}  // namespace funcattn

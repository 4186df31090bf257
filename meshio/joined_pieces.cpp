#include "meshio/joined_pieces.h"

#include <vtkIdTypeArray.h>
#include <vtkInformation.h>
#include <vtkInformationObjectBaseKey.h>
#include <vtkInformationStringVectorKey.h>
#include <vtkNew.h>

namespace funcattn {

namespace {

vtkInformationObjectBaseKey* piece_sizes_key() {
  static auto* const key = vtkInformationObjectBaseKey::MakeKey("PIECE_SIZES", "funcattn");
  return key;
}

/// Names and texts in turn.
vtkInformationStringVectorKey* differences_key() {
  static auto* const key = vtkInformationStringVectorKey::MakeKey("FIELD_DIFFERENCES", "funcattn");
  return key;
}

}  // namespace

void note_difference(vtkDataSet& data, const std::string& field, const std::string& numbers) {
  data.GetInformation()->Append(differences_key(), field);
  data.GetInformation()->Append(differences_key(), numbers);
}

std::string noted_difference(vtkDataObject& data, const std::string& field) {
  vtkInformation* information = data.GetInformation();
  for (int i = 0; i + 1 < information->Length(differences_key()); i += 2)
    if (field == information->Get(differences_key(), i))
      return information->Get(differences_key(), i + 1);
  return {};
}

void note_pieces(vtkDataSet& data, const std::vector<std::int64_t>& points) {
  const vtkNew<vtkIdTypeArray> sizes;
  for (const std::int64_t size : points) sizes->InsertNextValue(size);
  data.GetInformation()->Set(piece_sizes_key(), sizes);
}

std::vector<std::int64_t> piece_sizes(vtkDataSet& data) {
  const std::int64_t all = data.GetNumberOfPoints();
  auto* const noted = vtkIdTypeArray::SafeDownCast(data.GetInformation()->Get(piece_sizes_key()));
  if (!noted) return {all};
  std::vector<std::int64_t> sizes;
  std::int64_t total = 0;
  for (vtkIdType i = 0; i < noted->GetNumberOfValues(); ++i) {
    sizes.push_back(noted->GetValue(i));
    total += sizes.back();
  }
  // The points of the data set may have been replaced since.
  return total == all ? sizes : std::vector<std::int64_t>{all};
}

vtkSmartPointer<vtkDataSet> shallow_copy(vtkDataSet& data) {
  auto copy = vtkSmartPointer<vtkDataSet>::Take(data.NewInstance());
  copy->ShallowCopy(&data);
  if (vtkObjectBase* sizes = data.GetInformation()->Get(piece_sizes_key()))
    copy->GetInformation()->Set(piece_sizes_key(), sizes);
  copy->GetInformation()->CopyEntry(data.GetInformation(), differences_key());
  return copy;
}

}  // namespace funcattn

#include "tests/meshio/mesh_samples.h"

#include <unistd.h>
#include <vtkCellArray.h>
#include <vtkCellData.h>
#include <vtkCompositeDataSet.h>
#include <vtkDataObjectTree.h>
#include <vtkDataObjectTreeIterator.h>
#include <vtkDataSetWriter.h>
#include <vtkDoubleArray.h>
#include <vtkFloatArray.h>
#include <vtkImageData.h>
#include <vtkInformation.h>
#include <vtkInformationStringKey.h>
#include <vtkLongLongArray.h>
#include <vtkMultiBlockDataSet.h>
#include <vtkMultiPieceDataSet.h>
#include <vtkNew.h>
#include <vtkPointData.h>
#include <vtkPoints.h>
#include <vtkPolyData.h>
#include <vtkRectilinearGrid.h>
#include <vtkStringArray.h>
#include <vtkStructuredGrid.h>
#include <vtkUnsignedCharArray.h>
#include <vtkUnstructuredGrid.h>
#include <vtkXMLDataSetWriter.h>

#include <cmath>
#include <cstdlib>
#include <cstring>

#include "meshio/array_view.h"

namespace funcattn {

namespace fs = std::filesystem;

std::size_t FolderTest::entries() const {
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
}

namespace {

vtkSmartPointer<vtkDataSet> with_arrays(vtkDataSet* data) {
  vtkNew<vtkFloatArray> pressure;
  pressure->SetName("pressure");
  vtkNew<vtkDoubleArray> velocity;
  velocity->SetName("velocity");
  velocity->SetNumberOfComponents(3);
  velocity->SetComponentName(0, "u");
  velocity->SetComponentName(1, "v");
  velocity->SetComponentName(2, "w");
  vtkNew<vtkLongLongArray> id;
  id->SetName("id");
  for (vtkIdType i = 0; i < data->GetNumberOfPoints(); ++i) {
    const auto x = static_cast<double>(i);
    pressure->InsertNextValue(static_cast<float>(std::sin(x) / 3));
    velocity->InsertNextTuple3(std::cos(x) / 7, x * 1e-9, -1e9 / (1 + x));
    id->InsertNextValue((1LL << 40) + i);
  }
  vtkNew<vtkUnsignedCharArray> material;
  material->SetName("material");
  for (vtkIdType i = 0; i < data->GetNumberOfCells(); ++i)
    material->InsertNextValue(static_cast<unsigned char>(i % 251));
  vtkNew<vtkDoubleArray> time;
  time->SetName("TimeValue");
  time->InsertNextValue(0.1);
  data->GetPointData()->AddArray(pressure);
  data->GetPointData()->AddArray(velocity);
  data->GetPointData()->AddArray(id);
  data->GetPointData()->SetActiveScalars("pressure");
  data->GetCellData()->AddArray(material);
  data->GetFieldData()->AddArray(time);
  return data;
}

/// A bent block of 3 x 2 x 2 points, in single precision.
vtkSmartPointer<vtkPoints> block_points() {
  auto points = vtkSmartPointer<vtkPoints>::New();
  for (int k = 0; k < 2; ++k)
    for (int j = 0; j < 2; ++j)
      for (int i = 0; i < 3; ++i) points->InsertNextPoint(i + 0.1 * j, j / 3.0, k + 0.2 * i);
  return points;
}

}  // namespace

vtkSmartPointer<vtkDataSet> sample_surface() {
  vtkNew<vtkPolyData> data;
  data->SetPoints(block_points());
  const auto cells = [](std::vector<std::vector<vtkIdType>> lists) {
    auto array = vtkSmartPointer<vtkCellArray>::New();
    for (const auto& ids : lists)
      array->InsertNextCell(static_cast<vtkIdType>(ids.size()), ids.data());
    return array;
  };
  data->SetVerts(cells({{0}, {5}}));
  data->SetLines(cells({{0, 1}, {1, 2, 5, 4}}));
  data->SetPolys(cells({{0, 1, 4, 3}, {6, 7, 10}, {7, 8, 11, 10}}));
  data->SetStrips(cells({{0, 3, 6, 9}}));
  return with_arrays(data);
}

vtkSmartPointer<vtkDataSet> sample_grid() {
  vtkNew<vtkUnstructuredGrid> data;
  data->SetPoints(block_points());
  const vtkIdType hexahedron[] = {0, 1, 4, 3, 6, 7, 10, 9};
  const vtkIdType tetrahedron[] = {1, 2, 5, 8};
  const vtkIdType wedge[] = {1, 2, 5, 7, 8, 11};
  const vtkIdType triangle[] = {0, 1, 4};
  data->InsertNextCell(VTK_HEXAHEDRON, 8, hexahedron);
  data->InsertNextCell(VTK_TETRA, 4, tetrahedron);
  data->InsertNextCell(VTK_WEDGE, 6, wedge);
  data->InsertNextCell(VTK_TRIANGLE, 3, triangle);
  return with_arrays(data);
}

vtkSmartPointer<vtkDataSet> sample_polyhedron() {
  vtkNew<vtkUnstructuredGrid> data;
  data->SetPoints(block_points());
  const vtkIdType points[] = {0, 1, 4, 3, 6, 7, 10, 9};
  const vtkIdType faces[] = {4, 0, 3, 4,  1, 4, 6, 7, 10, 9,  4, 0, 1, 7, 6,
                             4, 1, 4, 10, 7, 4, 4, 3, 9,  10, 4, 3, 0, 6, 9};
  const vtkIdType tetrahedron[] = {1, 2, 5, 8};
  data->InsertNextCell(VTK_TETRA, 4, tetrahedron);
  data->InsertNextCell(VTK_POLYHEDRON, 8, points, 6, faces);
  return with_arrays(data);
}

vtkSmartPointer<vtkDataSet> sample_image() {
  vtkNew<vtkImageData> data;
  data->SetDimensions(4, 3, 2);
  data->SetSpacing(0.1, 0.25, 2);
  data->SetOrigin(1, 2, 1e6);
  return with_arrays(data);
}

vtkSmartPointer<vtkDataSet> sample_shifted_image() {
  vtkNew<vtkImageData> data;
  data->SetExtent(-1, 2, 0, 2, 3, 4);
  data->SetSpacing(0.1, 1.0 / 3, 2);
  data->SetOrigin(1, 2, 1e6 + 1);
  return with_arrays(data);
}

vtkSmartPointer<vtkDataSet> sample_structured() {
  vtkNew<vtkStructuredGrid> data;
  data->SetDimensions(3, 2, 2);
  data->SetPoints(block_points());
  return with_arrays(data);
}

vtkSmartPointer<vtkDataSet> sample_rectilinear() {
  vtkNew<vtkRectilinearGrid> data;
  data->SetDimensions(3, 2, 2);
  vtkNew<vtkDoubleArray> x;
  for (const double value : {0.0, 0.1, 0.7}) x->InsertNextValue(value);
  vtkNew<vtkFloatArray> y;
  for (const float value : {-1.0f, 0.3f}) y->InsertNextValue(value);
  vtkNew<vtkDoubleArray> z;
  for (const double value : {5.0, 5.25}) z->InsertNextValue(value);
  data->SetXCoordinates(x);
  data->SetYCoordinates(y);
  data->SetZCoordinates(z);
  return with_arrays(data);
}

vtkSmartPointer<vtkMultiBlockDataSet> sample_blocks() {
  const auto name = [](vtkInformation* metadata, const char* text) {
    metadata->Set(vtkCompositeDataSet::NAME(), text);
  };
  vtkNew<vtkMultiBlockDataSet> wing;
  wing->SetBlock(0, sample_surface());
  name(wing->GetMetaData(0u), "upper <&> \"side\"");
  wing->SetBlock(1, nullptr);
  name(wing->GetMetaData(1u), "nothing");
  wing->SetBlock(2, sample_grid());
  vtkNew<vtkMultiPieceDataSet> pieces;
  pieces->SetPiece(0, sample_structured());
  pieces->SetPiece(2, sample_rectilinear());
  auto blocks = vtkSmartPointer<vtkMultiBlockDataSet>::New();
  blocks->SetBlock(0, wing);
  name(blocks->GetMetaData(0u), "wing");
  blocks->SetBlock(1, pieces);
  blocks->SetBlock(3, sample_image());
  name(blocks->GetMetaData(3u), "box");
  blocks->SetBlock(4, nullptr);
  name(blocks->GetMetaData(4u), "end");
  vtkNew<vtkDoubleArray> inflow;
  inflow->SetName("inflow");
  inflow->InsertNextValue(12.5);
  blocks->GetFieldData()->AddArray(inflow);
  return blocks;
}

std::vector<MeshSample> xml_samples() {
  auto samples = legacy_samples();
  samples.push_back({".vti", sample_shifted_image()});
  return samples;
}

std::vector<MeshSample> legacy_samples() {
  return {{".vtp", sample_surface()},    {".vtu", sample_grid()},
          {".vtu", sample_polyhedron()}, {".vti", sample_image()},
          {".vts", sample_structured()}, {".vtr", sample_rectilinear()}};
}

std::string Storage::name() const {
  constexpr const char* modes[] = {"ascii", "binary", "raw", "base64"};
  constexpr const char* compressors[] = {"none", "zlib", "lz4", "lzma"};
  return std::string(modes[static_cast<int>(mode)]) + "-" +
         compressors[static_cast<int>(compressor)] + (wide_header ? "-64" : "-32") +
         (big_endian ? "-big" : "-little");
}

std::vector<Storage> all_storages() {
  std::vector<Storage> storages = {{Storage::Mode::ascii, Storage::Compressor::none, false, false}};
  for (const auto mode :
       {Storage::Mode::binary, Storage::Mode::appended_raw, Storage::Mode::appended_base64})
    for (const auto compressor : {Storage::Compressor::none, Storage::Compressor::zlib,
                                  Storage::Compressor::lz4, Storage::Compressor::lzma})
      for (const bool wide : {false, true})
        for (const bool big : {false, true}) storages.push_back({mode, compressor, wide, big});
  return storages;
}

void store_xml(vtkDataSet* data, const fs::path& path, const Storage& storage) {
  vtkNew<vtkXMLDataSetWriter> writer;
  writer->SetFileName(path.c_str());
  writer->SetInputData(data);
  switch (storage.mode) {
    case Storage::Mode::ascii:
      writer->SetDataModeToAscii();
      break;
    case Storage::Mode::binary:
      writer->SetDataModeToBinary();
      break;
    default:
      writer->SetDataModeToAppended();
      writer->SetEncodeAppendedData(storage.mode == Storage::Mode::appended_base64);
  }
  switch (storage.compressor) {
    case Storage::Compressor::none:
      writer->SetCompressorTypeToNone();
      break;
    case Storage::Compressor::zlib:
      writer->SetCompressorTypeToZLib();
      break;
    case Storage::Compressor::lz4:
      writer->SetCompressorTypeToLZ4();
      break;
    case Storage::Compressor::lzma:
      writer->SetCompressorTypeToLZMA();
      break;
  }
  // Several pieces per array, so that more than one length stands in the header.
  writer->SetBlockSize(64);
  if (storage.wide_header)
    writer->SetHeaderTypeToUInt64();
  else
    writer->SetHeaderTypeToUInt32();
  if (storage.big_endian)
    writer->SetByteOrderToBigEndian();
  else
    writer->SetByteOrderToLittleEndian();
  ASSERT_EQ(writer->Write(), 1);
}

void store_legacy(vtkDataSet* data, const fs::path& path, bool binary, int version) {
  vtkNew<vtkDataSetWriter> writer;
  writer->SetFileName(path.c_str());
  writer->SetInputData(data);
  writer->SetFileVersion(version);
  if (binary)
    writer->SetFileTypeToBinary();
  else
    writer->SetFileTypeToASCII();
  ASSERT_EQ(writer->Write(), 1);
}

namespace {

std::string array_difference(vtkDataArray* expected, vtkDataArray* found, const std::string& what) {
  const ArrayView a(expected);
  const ArrayView b(found);
  if (a.type() != b.type()) return what + " differs in type";
  if (a.rows() != b.rows() || a.components() != b.components()) return what + " differs in shape";
  const auto bytes =
      static_cast<std::size_t>(a.rows() * a.components() * expected->GetDataTypeSize());
  if (bytes > 0 && std::memcmp(a.data(), b.data(), bytes) != 0) return what + " differs in values";
  for (int i = 0; i < a.components(); ++i) {
    const char* x = expected->GetComponentName(i);
    const char* y = found->GetComponentName(i);
    if (std::string(x ? x : "") != (y ? y : "")) return what + " differs in component names";
  }
  return {};
}

std::string text_difference(vtkStringArray* a, vtkStringArray* b, const std::string& what) {
  if (!b || a->GetNumberOfValues() != b->GetNumberOfValues()) return what + " holds other text";
  for (vtkIdType i = 0; i < a->GetNumberOfValues(); ++i)
    if (a->GetValue(i) != b->GetValue(i)) return "text " + std::to_string(i) + " of " + what;
  return {};
}

std::string field_difference(vtkFieldData* expected, vtkFieldData* found, const std::string& kind,
                             bool fewer_allowed) {
  for (int i = 0; i < expected->GetNumberOfArrays(); ++i) {
    vtkAbstractArray* array = expected->GetAbstractArray(i);
    vtkAbstractArray* other = found->GetAbstractArray(array->GetName());
    const std::string what = kind + " array " + array->GetName();
    if (!other && fewer_allowed) continue;
    if (!other) return what + " is missing";
    auto* words = vtkStringArray::SafeDownCast(array);
    auto* numbers = vtkDataArray::SafeDownCast(other);
    if (!words && !numbers) return what + " holds text";
    const std::string difference =
        words ? text_difference(words, vtkStringArray::SafeDownCast(other), what)
              : array_difference(vtkDataArray::SafeDownCast(array), numbers, what);
    if (!difference.empty()) return difference;
  }
  if (found->GetNumberOfArrays() > expected->GetNumberOfArrays()) return "more " + kind + " arrays";
  return {};
}

}  // namespace

std::string difference(vtkDataSet* expected, vtkDataSet* found, bool fewer_allowed) {
  if (std::string(expected->GetClassName()) != found->GetClassName()) return "class";
  if (expected->GetNumberOfPoints() != found->GetNumberOfPoints()) return "number of points";
  auto* a = vtkPointSet::SafeDownCast(expected);
  auto* b = vtkPointSet::SafeDownCast(found);
  if (a && a->GetPoints()) {
    const std::string points =
        array_difference(a->GetPoints()->GetData(), b->GetPoints()->GetData(), "points");
    if (!points.empty()) return points;
  }
  for (vtkIdType i = 0; i < expected->GetNumberOfPoints(); ++i) {
    double x[3];
    double y[3];
    expected->GetPoint(i, x);
    found->GetPoint(i, y);
    if (std::memcmp(x, y, sizeof x) != 0) return "coordinates of point " + std::to_string(i);
  }
  const vtkIdType cells = found->GetNumberOfCells();
  if (fewer_allowed ? cells > expected->GetNumberOfCells() : cells != expected->GetNumberOfCells())
    return "number of cells";
  vtkNew<vtkIdList> x;
  vtkNew<vtkIdList> y;
  for (vtkIdType i = 0; i < cells; ++i) {
    if (expected->GetCellType(i) != found->GetCellType(i)) return "type of " + std::to_string(i);
    expected->GetCellPoints(i, x);
    found->GetCellPoints(i, y);
    if (expected->GetCellType(i) == VTK_POLYHEDRON) {
      // The faces matter; the legacy format does not keep the order of the points.
      vtkUnstructuredGrid::SafeDownCast(expected)->GetFaceStream(i, x);
      vtkUnstructuredGrid::SafeDownCast(found)->GetFaceStream(i, y);
    }
    const std::vector<vtkIdType> a_points(x->begin(), x->end());
    const std::vector<vtkIdType> b_points(y->begin(), y->end());
    if (a_points != b_points)
      return "points of cell " + std::to_string(i) + ": " + ::testing::PrintToString(a_points) +
             " and " + ::testing::PrintToString(b_points);
  }
  for (const auto& fields :
       {field_difference(expected->GetPointData(), found->GetPointData(), "point", fewer_allowed),
        field_difference(expected->GetCellData(), found->GetCellData(), "cell", fewer_allowed),
        field_difference(expected->GetFieldData(), found->GetFieldData(), "field", fewer_allowed)})
    if (!fields.empty()) return fields;
  return {};
}

std::string tree_difference(vtkDataObject* expected, vtkDataObject* found, bool more_arrays) {
  if (!expected || !found) return expected == found ? "" : "one is empty";
  auto* a = vtkDataObjectTree::SafeDownCast(expected);
  auto* b = vtkDataObjectTree::SafeDownCast(found);
  if (std::string(expected->GetClassName()) != found->GetClassName())
    return std::string(expected->GetClassName()) + " and " + found->GetClassName();
  if (!a || !b) {
    if (more_arrays) return "";
    return difference(vtkDataSet::SafeDownCast(expected), vtkDataSet::SafeDownCast(found));
  }
  const std::string fields = field_difference(a->GetFieldData(), b->GetFieldData(), "field", false);
  if (!fields.empty()) return fields;
  const auto children = [](vtkDataObjectTree* tree) {
    const auto iterator = vtkSmartPointer<vtkDataObjectTreeIterator>::Take(tree->NewTreeIterator());
    iterator->VisitOnlyLeavesOff();
    iterator->TraverseSubTreeOff();
    iterator->SkipEmptyNodesOff();
    iterator->InitTraversal();
    return iterator;
  };
  const auto name = [](vtkDataObjectTreeIterator* at) {
    const bool named = at->HasCurrentMetaData() != 0 &&
                       at->GetCurrentMetaData()->Has(vtkCompositeDataSet::NAME()) != 0;
    return std::string(named ? at->GetCurrentMetaData()->Get(vtkCompositeDataSet::NAME()) : "");
  };
  const auto x = children(a);
  const auto y = children(b);
  for (; !x->IsDoneWithTraversal(); x->GoToNextItem(), y->GoToNextItem()) {
    if (y->IsDoneWithTraversal()) return "fewer blocks";
    if (name(x) != name(y)) return "block '" + name(x) + "' is called '" + name(y) + "'";
    const std::string inside =
        tree_difference(x->GetCurrentDataObject(), y->GetCurrentDataObject(), more_arrays);
    if (!inside.empty()) return "block '" + name(x) + "': " + inside;
  }
  return y->IsDoneWithTraversal() ? "" : "more blocks";
}

void expect_says(const std::string& message, const std::string& text) {
  EXPECT_NE(message.find(text), std::string::npos) << "message: " << message << "\ntext: " << text;
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
}

std::optional<fs::path> shared_data() {
  const char* shared = std::getenv("FUNCATTN_SHARED");
  const char* source = std::getenv("FUNCATTN_SOURCE_DIR");
  const fs::path folder = shared   ? fs::path(shared) / "data"
                          : source ? fs::path(source) / ".." / "shared" / "data"
                                   : fs::path();
  if (folder.empty() || !fs::is_directory(folder)) return std::nullopt;
  return folder;
}

}  // namespace funcattn

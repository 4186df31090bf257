#include "tests/meshio/solver_samples.h"

#include <gtest/gtest.h>
#include <hdf5.h>
#include <vtkDoubleArray.h>
#include <vtkExodusIIWriter.h>
#include <vtkNew.h>
#include <vtkPointData.h>
#include <vtkPoints.h>
#include <vtkUnstructuredGrid.h>

#include <fstream>
#include <vector>

#include "core/atomic_file.h"

namespace funcattn {

namespace fs = std::filesystem;

namespace {

void put(const fs::path& folder, const std::string& name, const std::string& content) {
  fs::create_directories((folder / name).parent_path());
  write_file_atomically(folder / name, content);
}

vtkSmartPointer<vtkUnstructuredGrid> tetrahedra() {
  vtkNew<vtkPoints> points;
  points->SetDataTypeToDouble();
  points->InsertNextPoint(0, 0, 0);
  points->InsertNextPoint(1, 0, 0);
  points->InsertNextPoint(0, 1, 0);
  points->InsertNextPoint(0, 0, 1);
  points->InsertNextPoint(1, 1, 1);
  auto grid = vtkSmartPointer<vtkUnstructuredGrid>::New();
  grid->SetPoints(points);
  const vtkIdType first[] = {0, 1, 2, 3};
  const vtkIdType second[] = {1, 2, 3, 4};
  grid->InsertNextCell(VTK_TETRA, 4, first);
  grid->InsertNextCell(VTK_TETRA, 4, second);
  vtkNew<vtkDoubleArray> pressure;
  pressure->SetName("pressure");
  for (int i = 0; i < 5; ++i) pressure->InsertNextValue(i / 3.0);
  grid->GetPointData()->AddArray(pressure);
  return grid;
}

std::string foam_header(const std::string& kind, const std::string& object) {
  return "FoamFile\n{\n version 2.0;\n format ascii;\n class " + kind + ";\n object " + object +
         ";\n}\n";
}

class Group {
 public:
  explicit Group(hid_t id) : id_(id) {}
  ~Group() { H5Gclose(id_); }
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;
  operator hid_t() const { return id_; }

 private:
  hid_t id_;
};

template <class T>
void put_values(hid_t group, const char* name, hid_t type, const std::vector<hsize_t>& shape,
                const std::vector<T>& values) {
  const hid_t space = shape.empty()
                          ? H5Screate(H5S_SCALAR)
                          : H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr);
  const hid_t set = H5Dcreate2(group, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  ASSERT_GE(H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
  H5Dclose(set);
  H5Sclose(space);
}

void put_field_text(hid_t group, HdfChanges::FieldText kind) {
  const hid_t text = H5Tcopy(H5T_C_S1);
  if (kind == HdfChanges::FieldText::fixed) {
    H5Tset_size(text, 2);
    put_values<char>(group, "names", text, {2}, {'a', 'b', 'c', 'd'});
  } else {
    H5Tset_size(text, H5T_VARIABLE);
    if (kind == HdfChanges::FieldText::variable_utf8) H5Tset_cset(text, H5T_CSET_UTF8);
    const bool is_scalar = kind == HdfChanges::FieldText::scalar;
    put_values<const char*>(group, "names", text,
                            is_scalar ? std::vector<hsize_t>{} : std::vector<hsize_t>{2},
                            {"inlet", "outlet"});
  }
  H5Tclose(text);
}

}  // namespace

void store_exodus(const fs::path& path) {
  vtkNew<vtkExodusIIWriter> writer;
  writer->SetFileName(path.c_str());
  writer->SetInputData(tetrahedra());
  writer->SetStoreDoubles(1);
  writer->Write();
}

void store_foam(const fs::path& folder) {
  std::string points;
  for (int z = 0; z < 2; ++z)
    for (int y = 0; y < 2; ++y)
      for (int x = 0; x < 3; ++x)
        points +=
            "(" + std::to_string(x) + " " + std::to_string(y) + " " + std::to_string(z) + ")\n";
  put(folder, "constant/polyMesh/points",
      foam_header("vectorField", "points") + "12\n(\n" + points + ")\n");
  put(folder, "constant/polyMesh/faces",
      foam_header("faceList", "faces") +
          "11\n(\n4(1 4 10 7)\n4(0 6 9 3)\n4(0 1 7 6)\n4(3 9 10 4)\n4(0 3 4 1)\n4(6 7 10 9)\n"
          "4(2 5 11 8)\n4(1 2 8 7)\n4(4 10 11 5)\n4(1 4 5 2)\n4(7 8 11 10)\n)\n");
  put(folder, "constant/polyMesh/owner",
      foam_header("labelList", "owner") + "11\n(\n0\n0\n0\n0\n0\n0\n1\n1\n1\n1\n1\n)\n");
  put(folder, "constant/polyMesh/neighbour",
      foam_header("labelList", "neighbour") + "1\n(\n1\n)\n");
  put(folder, "constant/polyMesh/boundary",
      foam_header("polyBoundaryMesh", "boundary") +
          "1\n(\nwall\n{\n type wall;\n nFaces 10;\n startFace "
          "1;\n}\n)\n");
  put(folder, "system/controlDict",
      foam_header("dictionary", "controlDict") +
          "startTime 0;\nendTime 1;\ndeltaT 0.5;\nwriteInterval 1;\n");
  for (const char* time : {"0", "0.5"})
    put(folder, std::string(time) + "/p",
        foam_header("volScalarField", "p") +
            "dimensions [0 2 -2 0 0 0 0];\ninternalField nonuniform List<scalar> 2\n(\n" +
            (*time == '0' && time[1] ? "7 8" : "1 2") +
            "\n);\nboundaryField\n{\n wall { type zeroGradient; }\n}\n");
  std::ofstream(folder / "case.foam").flush();
}

void store_ensight(const fs::path& folder) {
  put(folder, "a.case",
      "FORMAT\ntype: ensight gold\n\nGEOMETRY\nmodel: a.geo\n\nVARIABLE\n"
      "scalar per node: 1 pressure a_**.p\nscalar per element: material a.m\n\nTIME\n"
      "time set: 1\nnumber of steps: 2\nfilename start number: 0\nfilename increment: 1\n"
      "time values: 0.25 1.5\n");
  put(folder, "a.geo",
      "title\nsecond line\nnode id assign\nelement id assign\npart\n         1\nwing\n"
      "coordinates\n         4\n 0.00000e+00\n 1.00000e+00\n 0.00000e+00\n 0.00000e+00\n"
      " 0.00000e+00\n 0.00000e+00\n 1.00000e+00\n 0.00000e+00\n 0.00000e+00\n 0.00000e+00\n"
      " 0.00000e+00\n 1.00000e+00\ntetra4\n         1\n         1         2         3         "
      "4\n");
  for (const char* step : {"00", "01"})
    put(folder, std::string("a_") + step + ".p",
        std::string("pressure\npart\n         1\ncoordinates\n 1.00000e+00\n 2.00000e+00\n "
                    "3.00000e+00\n ") +
            (step[1] == '1' ? "9" : "4") + ".00000e+00\n");
  put(folder, "a.m", "material\npart\n         1\ntetra4\n 5.00000e+00\n");
}

void store_vtkhdf(const fs::path& path, const HdfChanges& changes) {
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  ASSERT_GE(file, 0);
  {
    const Group group(H5Gcreate2(file, "VTKHDF", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    const hsize_t two = 2;
    const std::int64_t version[] = {changes.version, 0};
    hid_t space = H5Screate_simple(1, &two, nullptr);
    hid_t attribute =
        H5Acreate2(group, "Version", H5T_NATIVE_INT64, space, H5P_DEFAULT, H5P_DEFAULT);
    H5Awrite(attribute, H5T_NATIVE_INT64, version);
    H5Aclose(attribute);
    H5Sclose(space);
    if (!changes.type.empty()) {
      const hid_t text = H5Tcopy(H5T_C_S1);
      H5Tset_size(text, changes.type.size());
      space = H5Screate(H5S_SCALAR);
      attribute = H5Acreate2(group, "Type", text, space, H5P_DEFAULT, H5P_DEFAULT);
      H5Awrite(attribute, text, changes.type.c_str());
      H5Aclose(attribute);
      H5Sclose(space);
      H5Tclose(text);
    }
    const auto list = [&](const char* name, const std::vector<std::int64_t>& values) {
      put_values(group, name, H5T_NATIVE_INT64, {values.size()}, values);
    };
    list("NumberOfPoints", {5});
    list("NumberOfCells", {2});
    list("NumberOfConnectivityIds", {8});
    list("Offsets", {0, 4, 8});
    list("Connectivity", {0, 1, 2, 3, 1, 2, 3, changes.last_id});
    put_values<std::uint8_t>(group, "Types", H5T_NATIVE_UINT8, {2}, {VTK_TETRA, VTK_TETRA});
    put_values<double>(group, "Points", H5T_NATIVE_DOUBLE, {5, 3},
                       {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1});
    const Group fields(H5Gcreate2(group, "PointData", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    put_values<double>(fields, "pressure", H5T_NATIVE_DOUBLE, {5}, {0, 1, 2, 3, 4.5});
    if (changes.text) {
      const hid_t text = H5Tcopy(H5T_C_S1);
      H5Tset_size(text, 1);
      put_values<char>(fields, "label", text, {5}, {'a', 'b', 'c', 'd', 'e'});
      H5Tclose(text);
    }
    if (changes.booleans) {
      const hid_t boolean = H5Tenum_create(H5T_NATIVE_INT8);
      const std::int8_t no = 0;
      const std::int8_t yes = 1;
      H5Tenum_insert(boolean, "FALSE", &no);
      H5Tenum_insert(boolean, "TRUE", &yes);
      put_values<std::int8_t>(fields, "inside", boolean, {5}, {0, 1, 1, 0, 1});
      H5Tclose(boolean);
    }
    if (changes.field_text != HdfChanges::FieldText::none)
      put_field_text(Group(H5Gcreate2(group, "FieldData", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)),
                     changes.field_text);
    if (changes.steps)
      const Group steps(H5Gcreate2(group, "Steps", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  }
  H5Fclose(file);
}

}  // namespace funcattn

#include "tests/meshio/mutants.h"

#include <vtkCompositeDataSet.h>
#include <vtkDataAssembly.h>
#include <vtkInformation.h>
#include <vtkInformationStringKey.h>
#include <vtkNew.h>
#include <vtkOBJWriter.h>
#include <vtkPLYWriter.h>
#include <vtkPartitionedDataSet.h>
#include <vtkPartitionedDataSetCollection.h>
#include <vtkPolyData.h>
#include <vtkSTLWriter.h>
#include <vtkSphereSource.h>
#include <vtkUnstructuredGrid.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <stdexcept>

#include "core/atomic_file.h"
#include "core/error.h"
#include "core/random.h"
#include "meshio/quadrature.h"
#include "meshio/reader.h"
#include "meshio/writer.h"
#include "tests/meshio/mesh_samples.h"
#include "tests/meshio/solver_samples.h"

namespace funcattn {

namespace fs = std::filesystem;

namespace {

class OriginalStore {
 public:
  explicit OriginalStore(fs::path folder) : folder_(std::move(folder)) {}

  /// A folder of its own for the next original, whose main file has this name.
  fs::path next(const std::string& name, const std::string& main) {
    const fs::path folder = folder_ / std::to_string(originals_.size());
    fs::create_directories(folder);
    originals_.push_back({name, folder, folder / main});
    return originals_.back().main;
  }
  std::vector<Original> originals() const { return originals_; }

 private:
  fs::path folder_;
  std::vector<Original> originals_;
};

void store_vtk_files(OriginalStore& store) {
  using Mode = Storage::Mode;
  using Compressor = Storage::Compressor;
  const std::vector<Storage> storages = {{Mode::ascii, Compressor::none, false, false},
                                         {Mode::binary, Compressor::zlib, true, false},
                                         {Mode::appended_raw, Compressor::none, true, true},
                                         {Mode::appended_raw, Compressor::lz4, false, false},
                                         {Mode::appended_base64, Compressor::lzma, false, false}};
  for (const MeshSample& sample : xml_samples())
    for (const Storage& storage : storages)
      store_xml(sample.data, store.next(storage.name() + sample.extension, "a" + sample.extension),
                storage);
  for (const MeshSample& sample : legacy_samples())
    for (const int version : {42, 51})
      for (const bool binary : {false, true})
        store_legacy(sample.data, store.next("legacy " + sample.extension, "a.vtk"), binary,
                     version);
  for (const MeshSample& sample : xml_samples())
    write_mesh(Mesh(sample.data, "sample"),
               store.next(".p" + sample.extension.substr(1), "a.p" + sample.extension.substr(1)));
  for (const Encoding encoding : {Encoding::ascii, Encoding::appended}) {
    WriteOptions options;
    options.encoding = encoding;
    write_mesh_tree(MeshTree(sample_blocks(), "blocks"), store.next(".vtm", "a.vtm"), options);
  }
}

template <class Writer>
void store_surface(Writer* writer, const fs::path& path) {
  // No texture coordinates: VTK's writer of OBJ files leaves some of them out.
  vtkNew<vtkSphereSource> sphere;
  sphere->SetThetaResolution(5);
  sphere->SetPhiResolution(4);
  writer->SetFileName(path.c_str());
  writer->SetInputConnection(sphere->GetOutputPort());
  writer->Write();
}

/// Every kind of element and property, lists on points among them.
void store_ply_of_everything(OriginalStore& store) {
  const std::string header =
      " 1.0\ncomment of a program\nobj_info 1\nelement vertex 4\nproperty double x\n"
      "property double y\nproperty double z\nproperty float nx\nproperty float ny\n"
      "property float nz\nproperty uchar red\nproperty uchar green\nproperty uchar blue\n"
      "property list uchar short marks\nelement face 2\nproperty list uchar int vertex_indices\n"
      "property list uint float texcoord\nproperty uint flags\nelement edge 1\n"
      "property int vertex1\nproperty int vertex2\nend_header\n";
  write_file_atomically(store.next("ply of everything", "a.ply"),
                        "ply\nformat ascii" + header +
                            "0 0 0 0 0 1 1 2 3 0\n1 0 0 0 0 1 4 5 6 1 -7\n1 1 0 0 0 1 7 8 9 2 1 2\n"
                            "0 1 0 0 0 1 0 0 0 0\n4 0 1 2 3 2 0.5 1 11\n3 0 1 2 0 12\n0 2\n");
  // Rows of zeros: points in the origin, and triangles of one point.
  std::string rows(4 * (3 * 8 + 3 * 4 + 3 + 1), '\0');
  for (int face = 0; face < 2; ++face)
    rows += std::string(1, '\3') + std::string(3 * 4 + 4 + 4, '\0');
  for (const char* order : {"little", "big"})
    write_file_atomically(store.next(std::string("ply of everything, ") + order, "a.ply"),
                          std::string("ply\nformat binary_") + order + "_endian" + header + rows +
                              std::string(2 * 4, '\0'));
}

/// Cells of every kind, points with several normals, colours, groups, materials, long statements.
void store_obj_of_everything(OriginalStore& store) {
  write_file_atomically(store.next("obj of everything", "a.obj"),
                        "# of a program\nmtllib some.mtl\no thing\nv 0 0 0 0.1 0.2 0.3\n"
                        "v 1 0 0 1 0 0\nv 1 1 0 0 1 0 # far\nv 0 1 1234567.891 0 0 1\nvt 0 0\n"
                        "vt 1 0.5 0.25\nvn 0 0 1\nvn 1 0 0\ng one\nusemtl red\nf 1/1/1 2/2/1 \\\n"
                        "3/1/1\nf 1//2 3/2/2 4\ng two\nf -1 -2 -3 -4\nl 1 2/1 3\np 4 1\ns off\n");
}

/// Two pieces in one file, with cells of several kinds, bits and text.
void store_serial_pieces(OriginalStore& store) {
  const auto array = [](const std::string& attributes, const std::string& values) {
    return "<DataArray format=\"ascii\" " + attributes + ">" + values + "</DataArray>\n";
  };
  const auto cells = [&](const std::string& kind, const std::string& ids, const std::string& ends) {
    return "<" + kind + ">\n" + array("type=\"Int64\" Name=\"connectivity\"", ids) +
           array("type=\"Int64\" Name=\"offsets\"", ends) + "</" + kind + ">\n";
  };
  const std::string piece =
      "<Piece NumberOfPoints=\"3\" NumberOfVerts=\"2\" NumberOfLines=\"1\" NumberOfStrips=\"0\" "
      "NumberOfPolys=\"1\">\n<PointData>\n" +
      array("type=\"Bit\" Name=\"bits\"", "1 0 1") +
      "</PointData>\n<CellData>\n<Array type=\"String\" Name=\"words\" format=\"ascii\">"
      "97 98 0 99 0 0 100 101 102 0</Array>\n</CellData>\n<Points>\n" +
      array("type=\"Float32\" NumberOfComponents=\"3\"", "0 0 0 1 0 0 0 1 0") + "</Points>\n" +
      cells("Verts", "0 2", "1 2") + cells("Lines", "1 2", "2") + cells("Polys", "0 1 2", "3") +
      "</Piece>\n";
  write_file_atomically(
      store.next("pieces in one file", "a.vtp"),
      "<VTKFile type=\"PolyData\" version=\"1.0\" byte_order=\"LittleEndian\">\n<PolyData>\n" +
          piece + piece + "</PolyData>\n</VTKFile>\n");
}

/// A collection of partitioned data sets with an assembly, and its first member alone.
void store_partitioned_files(OriginalStore& store) {
  vtkNew<vtkPartitionedDataSet> volume;
  volume->SetPartition(0, sample_grid());
  volume->SetPartition(2, sample_grid());  // Partition 1 is empty.
  vtkNew<vtkPartitionedDataSetCollection> collection;
  collection->SetPartitionedDataSet(0, volume);
  collection->SetPartition(1, 0, sample_surface());
  collection->GetMetaData(1u)->Set(vtkCompositeDataSet::NAME(), "wing");
  vtkNew<vtkDataAssembly> assembly;
  assembly->Initialize();
  assembly->AddDataSetIndex(assembly->AddNode("wing"), 1);
  collection->SetDataAssembly(assembly);
  write_mesh_tree(MeshTree(volume.GetPointer(), "volume"), store.next(".vtpd", "a.vtpd"));
  write_mesh_tree(MeshTree(collection.GetPointer(), "collection"), store.next(".vtpc", "a.vtpc"));
}

void store_other_files(OriginalStore& store) {
  store_ply_of_everything(store);
  store_obj_of_everything(store);
  store_serial_pieces(store);
  store_partitioned_files(store);
  for (const bool binary : {false, true}) {
    vtkNew<vtkSTLWriter> stl;
    vtkNew<vtkPLYWriter> ply;
    if (binary) {
      stl->SetFileTypeToBinary();
      ply->SetFileTypeToBinary();
    } else {
      stl->SetFileTypeToASCII();
      ply->SetFileTypeToASCII();
    }
    store_surface(stl.GetPointer(), store.next(".stl", "a.stl"));
    store_surface(ply.GetPointer(), store.next(".ply", "a.ply"));
  }
  vtkNew<vtkOBJWriter> obj;
  store_surface(obj.GetPointer(), store.next(".obj", "a.obj"));
  store_exodus(store.next("Exodus", "a.e"));
  store_vtkhdf(store.next("VTKHDF", "a.vtkhdf"));
  store_ensight(store.next("EnSight", "a.case").parent_path());
  store_foam(store.next("OpenFOAM", "case.foam").parent_path());
}

std::vector<fs::path> files_below(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file() && entry.file_size() > 0) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

/// Replaces one number in the text by an extreme one.
void replace_number(std::string& bytes, RandomGenerator& random) {
  constexpr std::array<const char*, 10> extremes = {
      "0",     "-1",  "99999999", "2147483648", "-9223372036854775808", "18446744073709551615",
      "1e999", "nan", "",         "1.5"};
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const std::size_t from = random.below(bytes.size());
  const auto begin =
      std::find_if(bytes.begin() + static_cast<std::ptrdiff_t>(from), bytes.end(), is_digit);
  const auto end = std::find_if_not(begin, bytes.end(), is_digit);
  bytes.replace(begin, end, extremes[random.below(extremes.size())]);
}

void damage_once(std::string& bytes, RandomGenerator& random) {
  if (bytes.empty()) return;
  const std::size_t at = random.below(bytes.size());
  const std::size_t length = 1 + random.below(std::min<std::size_t>(bytes.size() - at, 64));
  switch (random.below(8)) {
    case 0:
    case 1:
      bytes[at] =
          static_cast<char>(static_cast<unsigned char>(bytes[at]) ^ (1u << random.below(8)));
      break;
    case 2:
      bytes.replace(at, std::min<std::size_t>(length, 8), std::min<std::size_t>(length, 8),
                    random.below(2) ? '\xff' : '\0');
      break;
    case 3:
    case 4:
      replace_number(bytes, random);
      break;
    case 5:
      bytes.erase(at, length);
      break;
    case 6:
      bytes.insert(random.below(bytes.size()), bytes.substr(at, length));
      break;
    default:
      bytes.resize(at);
  }
}

void write_bytes(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

/// Everything that a user of the tree would touch.
void use(const MeshTree& tree) {
  for (const Mesh& leaf : tree.leaves()) {
    for (const ArraySpec& spec : leaf.arrays()) leaf.array(spec.name, spec.association).to_double();
    leaf.coordinates(Association::cell);
    quadrature_weights(leaf, Association::point, {});
    quadrature_weights(leaf, Association::cell, {});
  }
}

}  // namespace

std::vector<Original> store_originals(const fs::path& folder) {
  OriginalStore store(folder);
  store_vtk_files(store);
  store_other_files(store);
  return store.originals();
}

Outcome try_mutant(const Original& original, std::uint64_t seed) {
  RandomGenerator random(seed);
  const auto files = files_below(original.folder);
  const fs::path& victim = files[random.below(files.size())];
  const std::string whole = read_file(victim);
  std::string bytes = whole;
  for (std::uint64_t i = 1 + random.below(3); i > 0; --i) damage_once(bytes, random);
  write_bytes(victim, bytes);
  Outcome outcome = Outcome::read;
  std::string trouble;
  try {
    const MeshTree tree = read_mesh_tree(original.main);
    try {
      use(tree);
    } catch (const DataError&) {
      // Coordinates may have become infinite, or a mesh may have lost its points.
    }
  } catch (const FileError& error) {
    outcome = Outcome::refused;
    if (std::string(error.what()).find('\n') != std::string::npos)
      trouble = std::string("a message of several lines: ") + error.what();
  } catch (const std::exception& error) {
    trouble = std::string("another exception: ") + error.what();
  }
  write_bytes(victim, whole);
  if (!trouble.empty())
    throw std::logic_error(original.name + ", " + victim.filename().string() + ", seed " +
                           std::to_string(seed) + ": " + trouble);
  return outcome;
}

}  // namespace funcattn

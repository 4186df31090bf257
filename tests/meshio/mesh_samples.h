#pragma once

#include <gtest/gtest.h>
#include <vtkDataSet.h>
#include <vtkMultiBlockDataSet.h>
#include <vtkSmartPointer.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "meshio/mesh.h"
#include "tests/support/folder_test.h"

namespace funcattn {

/// A test with a folder of its own, whose name holds a blank and letters outside ASCII.
class FolderTest : public test::FolderTest {
 protected:
  FolderTest() : test::FolderTest("funcattn mésh-") {}
  std::size_t entries() const;  ///< Number of files in the folder.
};

/// Small data sets of every kind, each with point arrays "pressure" (float32), "velocity" (float64,
/// named components), "id" (int64), a cell array "material" (uint8) and the field "TimeValue".
vtkSmartPointer<vtkDataSet> sample_surface();
vtkSmartPointer<vtkDataSet> sample_grid();
vtkSmartPointer<vtkDataSet> sample_polyhedron();
vtkSmartPointer<vtkDataSet> sample_image();
vtkSmartPointer<vtkDataSet> sample_shifted_image();  ///< Its extent does not begin at 0.
vtkSmartPointer<vtkDataSet> sample_structured();
vtkSmartPointer<vtkDataSet> sample_rectilinear();

/// A tree with a named block, a nameless one of pieces, empty places, a name that XML must escape
/// and field data: wing { "upper <&> \"side\"", (empty) "nothing", grid }, pieces { structured,
/// (empty), rectilinear }, (empty), "box", (empty) "end".
vtkSmartPointer<vtkMultiBlockDataSet> sample_blocks();

struct MeshSample {
  std::string extension;
  vtkSmartPointer<vtkDataSet> data;
};

/// Every kind with the XML extension that it is stored under.
std::vector<MeshSample> xml_samples();

/// Those that the legacy format can hold: its images begin at index 0.
std::vector<MeshSample> legacy_samples();

/// How VTK is to store a file.
struct Storage {
  enum class Mode { ascii, binary, appended_raw, appended_base64 };
  Mode mode = Mode::appended_raw;
  enum class Compressor { none, zlib, lz4, lzma };
  Compressor compressor = Compressor::zlib;
  bool wide_header = false;  ///< UInt64 instead of UInt32.
  bool big_endian = false;

  std::string name() const;
};

/// All combinations that differ in the bytes of the file.
std::vector<Storage> all_storages();

/// Stores with VTK itself, not with the writer under test.
void store_xml(vtkDataSet* data, const std::filesystem::path& path, const Storage& storage);
void store_legacy(vtkDataSet* data, const std::filesystem::path& path, bool binary,
                  int version = 51);

/// Where `found` differs from `expected` in coordinates, cells, or arrays (type, values bit by bit,
/// names, component names); empty if nowhere. With `fewer_allowed`, arrays and cells may be absent.
std::string difference(vtkDataSet* expected, vtkDataSet* found, bool fewer_allowed = false);

/// As difference(), over the blocks of a tree: their names, classes and leaves. With
/// `more_arrays`, only the shape of the tree counts.
std::string tree_difference(vtkDataObject* expected, vtkDataObject* found,
                            bool more_arrays = false);

/// Message of the Error of type E that `function` throws; fails the test if it does not.
template <class E, class Function>
std::string message_of(const Function& function) {
  try {
    function();
  } catch (const E& error) {
    return error.what();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "another exception was thrown: " << error.what();
    return {};
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

/// Expects `text` in `message`, and the message in one line.
void expect_says(const std::string& message, const std::string& text);

/// Folder of shared real data, if there is one.
std::optional<std::filesystem::path> shared_data();

}  // namespace funcattn

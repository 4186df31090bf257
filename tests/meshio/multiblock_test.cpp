// Trees of data sets in files of several.
#include <gtest/gtest.h>
#include <vtkCompositeDataSet.h>
#include <vtkDataAssembly.h>
#include <vtkDoubleArray.h>
#include <vtkFieldData.h>
#include <vtkInformation.h>
#include <vtkInformationStringKey.h>
#include <vtkMultiBlockDataSet.h>
#include <vtkPartitionedDataSet.h>
#include <vtkPartitionedDataSetCollection.h>
#include <vtkPointData.h>
#include <vtkTable.h>
#include <vtkXMLMultiBlockDataReader.h>
#include <vtkXMLMultiBlockDataWriter.h>
#include <vtkXMLPartitionedDataSetCollectionReader.h>

#include "core/atomic_file.h"
#include "core/error.h"
#include "meshio/piece_folder.h"
#include "meshio/reader.h"
#include "meshio/vtk_messages.h"
#include "meshio/writer.h"
#include "tests/meshio/mesh_samples.h"

namespace funcattn {
namespace {

namespace fs = std::filesystem;

class MultiblockTest : public FolderTest {
 protected:
  std::string message(const fs::path& path) {
    return message_of<FileError>([&] { read_mesh_tree(path); });
  }
  /// Every file below the folder, sorted.
  std::vector<std::string> all_files() const {
    std::vector<std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(folder_))
      if (entry.is_regular_file()) files.push_back(fs::relative(entry.path(), folder_).string());
    std::sort(files.begin(), files.end());
    return files;
  }
};

TEST_F(MultiblockTest, WritesWhatItAndVtkReadBack) {
  const auto blocks = sample_blocks();
  for (const Encoding encoding :
       {Encoding::appended, Encoding::appended_base64, Encoding::binary, Encoding::ascii})
    for (const char* name : {"ä b.vtm", "c.vtmb"}) {
      WriteOptions options;
      options.encoding = encoding;
      write_mesh_tree(MeshTree(blocks, "blocks"), folder_ / name, options);
      const MeshTree read = read_mesh_tree(folder_ / name);
      EXPECT_EQ(tree_difference(blocks, read.vtk()), "");
      EXPECT_EQ(read.leaves()[0].origin(),
                (folder_ / name).string() + ": block 'wing/upper <&> \"side\"'");
      EXPECT_EQ(read.time(), 0.1);

      VtkMessages messages;
      const vtkNew<vtkXMLMultiBlockDataReader> reader;
      messages.observe(reader);
      reader->SetFileName((folder_ / name).c_str());
      reader->Update();
      EXPECT_EQ(messages.first_error(), "");
      EXPECT_EQ(tree_difference(blocks, reader->GetOutputDataObject(0)), "");
    }
}

TEST_F(MultiblockTest, ReadsWhatVtkWrites) {
  const auto blocks = sample_blocks();
  vtkNew<vtkXMLMultiBlockDataWriter> writer;
  writer->SetFileName((folder_ / "a.vtm").c_str());
  writer->SetInputData(blocks);
  ASSERT_EQ(writer->Write(), 1);
  const MeshTree read = read_mesh_tree(folder_ / "a.vtm");
  EXPECT_EQ(read.block_paths(), MeshTree(blocks, "").block_paths());
  EXPECT_EQ(read.vtk()->GetFieldData()->GetArray("inflow")->GetTuple1(0), 12.5);
}

TEST_F(MultiblockTest, OneBlockCanStandForAMesh) {
  vtkNew<vtkMultiBlockDataSet> blocks;
  blocks->SetBlock(3, sample_grid());
  write_mesh_tree(MeshTree(blocks.GetPointer(), "one"), folder_ / "one.vtm");
  EXPECT_EQ(difference(sample_grid(), read_mesh(folder_ / "one.vtm").vtk()), "");
  write_mesh_tree(MeshTree(sample_blocks(), "five"), folder_ / "five.vtm");
  expect_says(message_of<FileError>([&] { read_mesh(folder_ / "five.vtm"); }),
              "five.vtm' holds a tree of 5 data sets, but one is needed; merge them");
}

TEST_F(MultiblockTest, DamageNamesTheBlockAndTheFile) {
  const fs::path index = folder_ / "a.vtm";
  write_mesh_tree(MeshTree(sample_blocks(), "blocks"), index);
  const std::string whole = read_file(index);
  const fs::path piece = folder_ / "a" / "a_1.vtu";
  ASSERT_TRUE(fs::exists(piece));
  const std::string bytes = read_file(piece);
  fs::remove(piece);
  expect_says(message(index), "cannot read '" + index.string() +
                                  "': block 'wing/2': cannot read '" + piece.string() +
                                  "': no such file");
  write_file_atomically(piece, bytes.substr(0, bytes.size() / 2));
  expect_says(message(index), "block 'wing/2': cannot read '" + piece.string() + "': ");
  write_file_atomically(piece, bytes);
  read_mesh_tree(index);

  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = whole;
    const auto at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    write_file_atomically(folder_ / "b.vtm", text.replace(at, from.size(), to));
    return message(folder_ / "b.vtm");
  };
  expect_says(with("version=\"1.0\" byte", "version=\"0.1\" byte"), "of version '0.1'");
  expect_says(with("index=\"2\"", "index=\"0\""), "which another block beside it has as well");
  expect_says(with("index=\"2\"", "index=\"4294967295\""), "index 4294967295, which is absurd");
  expect_says(with("index=\"2\"", "index=\"-1\""), "expected an integer >= 0");
  expect_says(with("<DataSet", "<Sphere"), "has an element <Sphere> inside <Block>");
  expect_says(with("a/a_0.vtp", "a.vtm"), "it is a tree itself, expected one data set");
  expect_says(with("a/a_0.vtp", "a"), "it is a folder; give a file");
  for (std::size_t length = 1; length + 12 < whole.size(); length += 7) {
    write_file_atomically(folder_ / "b.vtm", whole.substr(0, length));
    message(folder_ / "b.vtm");
  }
}

TEST_F(MultiblockTest, RefusesWhatTheFormatHasNoPlaceFor) {
  const auto message = [&](vtkMultiBlockDataSet* blocks) {
    return message_of<UsageError>(
        [&] { write_mesh_tree(MeshTree(blocks, "blocks"), folder_ / "a.vtm"); });
  };
  const auto inner_fields = sample_blocks();
  vtkNew<vtkDoubleArray> array;
  array->SetName("q");
  array->InsertNextValue(1);
  inner_fields->GetBlock(0)->GetFieldData()->AddArray(array);
  expect_says(message(inner_fields), "block 'wing' has field data, for which a multi-block file");
  const auto table = sample_blocks();
  table->SetBlock(2, vtkNew<vtkTable>());
  expect_says(message(table), "is a vtkTable, expected a mesh; remove it");
  expect_says(message_of<UsageError>(
                  [&] { write_mesh_tree(MeshTree(sample_blocks(), "blocks"), folder_ / "a.vtu"); }),
              "the data are a vtkMultiBlockDataSet, which .vtu cannot hold; use .vtm");
  EXPECT_EQ(entries(), 0u);
}

TEST_F(MultiblockTest, TheOldResultSurvivesAFailureAsAWhole) {
  const fs::path index = folder_ / "a.vtm";
  write_mesh_tree(MeshTree(sample_blocks(), "blocks"), index);
  const auto files = all_files();
  EXPECT_EQ(files, (std::vector<std::string>{"a.vtm", "a/a_0.vtp", "a/a_1.vtu", "a/a_2.vts",
                                             "a/a_3.vtr", "a/a_4.vti"}));
  const auto bad = sample_blocks();
  vtkNew<vtkDoubleArray> array;
  array->SetName("bad <name>");
  array->SetNumberOfTuples(24);
  vtkDataSet::SafeDownCast(bad->GetBlock(3))->GetPointData()->AddArray(array);
  WriteOptions ascii;
  ascii.encoding = Encoding::ascii;
  array->Fill(NAN);
  expect_says(
      message_of<FileError>([&] { write_mesh_tree(MeshTree(bad, "blocks"), index, ascii); }),
      "block 'box': row 0 of point array 'bad <name>' is not finite");
  EXPECT_EQ(all_files(), files);
  EXPECT_EQ(tree_difference(sample_blocks(), read_mesh_tree(index).vtk()), "");
}

TEST_F(MultiblockTest, ANewResultReplacesTheOldOneAndNothingElse) {
  const fs::path index = folder_ / "a.vtm";
  write_mesh_tree(MeshTree(sample_blocks(), "blocks"), index);
  write_file_atomically(folder_ / "a" / "mine.txt", "keep me");
  vtkNew<vtkMultiBlockDataSet> one;
  one->SetBlock(0, sample_grid());
  for (int i = 0; i < 3; ++i) {
    write_mesh_tree(MeshTree(one.GetPointer(), "one"), index);
    EXPECT_EQ(read_mesh_tree(index).leaves().size(), 1u);
  }
  EXPECT_EQ(all_files(), (std::vector<std::string>{"a-1/a_0.vtu", "a.vtm", "a/mine.txt"}));
}

vtkSmartPointer<vtkPartitionedDataSetCollection> sample_collection() {
  auto collection = vtkSmartPointer<vtkPartitionedDataSetCollection>::New();
  collection->SetPartition(0, 0, sample_surface());
  collection->SetPartition(1, 0, sample_grid());
  collection->SetPartition(1, 2, sample_grid());  // Partition 1 is empty.
  collection->GetMetaData(1u)->Set(vtkCompositeDataSet::NAME(), "volume");
  vtkNew<vtkDataAssembly> assembly;
  assembly->Initialize();
  assembly->SetRootNodeName("parts");
  assembly->AddDataSetIndex(assembly->AddNode("wing"), 1);
  collection->SetDataAssembly(assembly);
  return collection;
}

TEST_F(MultiblockTest, PartitionedDataSetsAndTheirCollections) {
  const auto collection = sample_collection();
  const fs::path file = folder_ / "a.vtpc";
  const MeshTree given(collection, "collection");
  EXPECT_EQ(suggested_extension(given), ".vtpc");
  EXPECT_EQ(given.block_paths(), (std::vector<std::string>{"0/0", "volume/0", "volume/2"}));
  write_mesh_tree(given.with_leaves(given.leaves()), file);
  const MeshTree read = read_mesh_tree(file);
  EXPECT_EQ(read.block_paths(), given.block_paths());
  EXPECT_EQ(tree_difference(collection, read.vtk()), "");
  auto* assembly = vtkPartitionedDataSetCollection::SafeDownCast(read.vtk())->GetDataAssembly();
  ASSERT_NE(assembly, nullptr);
  EXPECT_EQ(assembly->SerializeToXML(vtkIndent()),
            collection->GetDataAssembly()->SerializeToXML(vtkIndent()));
  // VTK reads what is written; it writes the assembly on a line of its own.
  vtkNew<vtkXMLPartitionedDataSetCollectionReader> reader;
  reader->SetFileName(file.c_str());
  reader->Update();
  vtkDataObject* output = reader->GetOutputDataObject(0);
  auto* by_vtk = vtkPartitionedDataSetCollection::SafeDownCast(output);
  ASSERT_NE(by_vtk, nullptr);
  EXPECT_EQ(by_vtk->GetNumberOfPartitionedDataSets(), 2u);
  ASSERT_NE(by_vtk->GetDataAssembly(), nullptr);
  EXPECT_EQ(difference(sample_surface(), by_vtk->GetPartition(0, 0)), "");
  std::string text = read_file(file);
  const auto at = text.find("base64\">") + 8;
  write_file_atomically(folder_ / "b.vtpc", std::string(text).insert(at, "\n      "));
  EXPECT_EQ(tree_difference(collection, read_mesh_tree(folder_ / "b.vtpc").vtk()), "");

  const MeshTree partitions(collection->GetPartitionedDataSet(1), "partitions");
  EXPECT_EQ(suggested_extension(partitions), ".vtpd");
  write_mesh_tree(partitions, folder_ / "c.vtpd");
  EXPECT_EQ(tree_difference(partitions.vtk(), read_mesh_tree(folder_ / "c.vtpd").vtk()), "");

  write_file_atomically(folder_ / "d.vtpc", text.replace(at, 8, "AAAA"));
  expect_says(message(folder_ / "d.vtpc"), "its <DataAssembly> cannot be read");
  write_file_atomically(folder_ / "e.vthb",
                        "<VTKFile type=\"vtkOverlappingAMR\" version=\"1.1\"/>");
  expect_says(message(folder_ / "e.vthb"),
              "grids with adaptive refinement (AMR) are not read; convert it to multi-block");
}

TEST_F(MultiblockTest, TwoIndexesOfOneStemAtATime) {
  // Both take their folders before either is complete.
  PieceFolder blocks(folder_ / "m.vtm");
  PieceFolder pieces(folder_ / "m.pvtu");
  write_mesh(Mesh(sample_surface(), "a"), blocks.piece(0, ".vtp"));
  write_mesh(Mesh(sample_grid(), "b"), pieces.piece(0, ".vtu"));
  EXPECT_EQ(blocks.reference(0, ".vtp"), "m/m_0.vtp");
  EXPECT_EQ(pieces.reference(0, ".vtu"), "m-1/m_0.vtu");
  pieces.commit("<VTKFile/>");
  blocks.commit("<VTKFile/>");
  EXPECT_TRUE(fs::exists(folder_ / "m" / "m_0.vtp"));
  EXPECT_TRUE(fs::exists(folder_ / "m-1" / "m_0.vtu"));
  EXPECT_EQ(entries(), 4u);
  { const PieceFolder given_up(folder_ / "n.vtm"); }
  EXPECT_EQ(entries(), 4u);
}

TEST_F(MultiblockTest, LongNames) {
  const fs::path index = folder_ / (std::string(251, 'm') + ".vtm");
  for (int i = 0; i < 2; ++i) {
    write_mesh_tree(MeshTree(sample_blocks(), "blocks"), index);
    EXPECT_EQ(tree_difference(sample_blocks(), read_mesh_tree(index).vtk()), "");
    EXPECT_EQ(entries(), 2u);
  }
}

TEST_F(MultiblockTest, PiecesThatACopyOfTheIndexNamesStay) {
  const fs::path index = folder_ / "a.vtm";
  write_mesh_tree(MeshTree(sample_blocks(), "blocks"), index);
  fs::copy_file(index, folder_ / "input.vtm");
  vtkNew<vtkMultiBlockDataSet> one;
  one->SetBlock(0, sample_grid());
  write_mesh_tree(MeshTree(one.GetPointer(), "one"), index);
  EXPECT_EQ(tree_difference(sample_blocks(), read_mesh_tree(folder_ / "input.vtm").vtk()), "");
  EXPECT_EQ(read_mesh_tree(index).leaves().size(), 1u);
}

}  // namespace
}  // namespace funcattn

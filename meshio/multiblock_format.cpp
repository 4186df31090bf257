#include "meshio/multiblock_format.h"

#include <vtkBase64Utilities.h>
#include <vtkCompositeDataSet.h>
#include <vtkDataAssembly.h>
#include <vtkDataObjectTree.h>
#include <vtkDataObjectTreeIterator.h>
#include <vtkFieldData.h>
#include <vtkInformation.h>
#include <vtkInformationStringKey.h>
#include <vtkMultiBlockDataSet.h>
#include <vtkMultiPieceDataSet.h>
#include <vtkPartitionedDataSet.h>
#include <vtkPartitionedDataSetCollection.h>

#include <cctype>
#include <set>

#include "core/error.h"
#include "core/text.h"
#include "meshio/file_bytes.h"
#include "meshio/formats.h"
#include "meshio/piece_folder.h"
#include "meshio/vtk_messages.h"
#include "meshio/xml_field_data.h"
#include "meshio/xml_format.h"
#include "meshio/xml_names.h"
#include "meshio/xml_structure.h"
#include "meshio/xml_tree.h"

namespace funcattn {

namespace fs = std::filesystem;

namespace {

/// More blocks than this are a damaged index; VTK would allocate room for all below it.
constexpr std::int64_t kLargestIndex = 1'000'000;

/// Which partitions form a whole of which name: XML as base64.
vtkSmartPointer<vtkDataAssembly> assembly_of(const XmlElement& element) {
  std::string text;
  for (const char c : element.text)
    if (std::isspace(static_cast<unsigned char>(c)) == 0) text.push_back(c);
  std::string xml(text.size(), '\0');
  const auto length = vtkBase64Utilities::DecodeSafely(
      reinterpret_cast<const unsigned char*>(text.data()), text.size(),
      reinterpret_cast<unsigned char*>(xml.data()), xml.size());
  xml.resize(length);
  const VtkMessages messages;
  auto assembly = vtkSmartPointer<vtkDataAssembly>::New();
  messages.observe(assembly);
  // VTK takes an empty text, which a zero byte ends, for an empty assembly.
  if (xml.empty() || xml.front() != '<' || xml.find('\0') != std::string::npos ||
      !assembly->InitializeFromXML(xml.c_str()) || messages.has_errors())
    throw DataError("its <DataAssembly> cannot be read; the file is damaged");
  return assembly;
}

class TreeReader {
 public:
  explicit TreeReader(const fs::path& index) : index_(index) {}

  /// `root` stands for the whole tree: its name is the class of the data.
  vtkSmartPointer<vtkDataObjectTree> read(const XmlElement& root) const {
    if (root.name == "vtkPartitionedDataSet") {
      const auto partitions = vtkSmartPointer<vtkPartitionedDataSet>::New();
      read_partitions(root, partitions, "");
      return partitions;
    }
    if (root.name == "vtkPartitionedDataSetCollection") return read_collection(root);
    return read_blocks(root, "");
  }

 private:
  struct Place {
    unsigned index;
    std::string path;
  };

  /// Checks the index of a child; without one it is behind all before it, as in VTK.
  static Place place_of(const XmlElement& child, const std::string& above,
                        std::set<std::int64_t>& used) {
    const std::int64_t next = used.empty() ? 0 : *used.rbegin() + 1;
    const std::int64_t index = child.attributes.count("index") > 0 ? child.count("index") : next;
    if (index > kLargestIndex)
      throw DataError("a block has the index " + std::to_string(index) + ", which is absurd");
    const std::string name = child.attribute("name", std::to_string(index));
    const std::string path = above.empty() ? name : above + "/" + name;
    if (!used.insert(index).second)
      throw DataError("block '" + path + "' has the index " + std::to_string(index) +
                      ", which another block beside it has as well");
    return {static_cast<unsigned>(index), path};
  }

  static void set_name(vtkInformation* metadata, const XmlElement& child) {
    if (child.attributes.count("name"))
      metadata->Set(vtkCompositeDataSet::NAME(), child.attribute("name").c_str());
  }

  vtkSmartPointer<vtkMultiBlockDataSet> read_blocks(const XmlElement& element,
                                                    const std::string& above) const {
    auto blocks = vtkSmartPointer<vtkMultiBlockDataSet>::New();
    std::set<std::int64_t> used;
    for (const XmlElement& child : element.children) {
      const auto [index, path] = place_of(child, above, used);
      if (child.name == "Block") {
        blocks->SetBlock(index, read_blocks(child, path));
      } else if (child.name == "Piece") {
        const auto pieces = vtkSmartPointer<vtkMultiPieceDataSet>::New();
        read_partitions(child, pieces, path);
        blocks->SetBlock(index, pieces);
      } else {
        blocks->SetBlock(index, read_leaf(child, path));
      }
      set_name(blocks->GetMetaData(index), child);
    }
    return blocks;
  }

  vtkSmartPointer<vtkPartitionedDataSetCollection> read_collection(const XmlElement& root) const {
    auto collection = vtkSmartPointer<vtkPartitionedDataSetCollection>::New();
    std::set<std::int64_t> used;
    for (const XmlElement& child : root.children) {
      if (child.name != "Partitions") continue;
      const auto [index, path] = place_of(child, "", used);
      const auto partitions = vtkSmartPointer<vtkPartitionedDataSet>::New();
      read_partitions(child, partitions, path);
      collection->SetPartitionedDataSet(index, partitions);
      set_name(collection->GetMetaData(index), child);
    }
    if (const XmlElement* assembly = root.child("DataAssembly"))
      collection->SetDataAssembly(assembly_of(*assembly));
    return collection;
  }

  void read_partitions(const XmlElement& element, vtkPartitionedDataSet* partitions,
                       const std::string& above) const {
    std::set<std::int64_t> used;
    for (const XmlElement& child : element.children) {
      const auto [index, path] = place_of(child, above, used);
      partitions->SetPartition(index, read_leaf(child, path));
      set_name(partitions->GetMetaData(index), child);
    }
  }

  /// Null where the element names no file.
  vtkSmartPointer<vtkDataObject> read_leaf(const XmlElement& element,
                                           const std::string& path) const {
    if (element.name != "DataSet")
      throw DataError("block '" + path + "' is an element <" + element.name +
                      ">, expected <Block>, <Piece> or <DataSet>");
    const std::string reference = element.attribute("file");
    if (reference.empty()) return nullptr;
    const fs::path file = index_.parent_path() / reference;
    try {
      const FormatSupport& support = format_of(file);
      if (support.format.is_tree) throw DataError("it is a tree itself, expected one data set");
      return support.read(file, {});
    } catch (const Error& error) {
      const std::string failed = "cannot read '" + file.string() + "': ";
      const std::string message = error.what();
      throw DataError("block '" + path +
                      "': " + (message.rfind(failed, 0) == 0 ? message : failed + message));
    }
  }

  const fs::path& index_;
};

std::string assembly_element(vtkDataAssembly* assembly) {
  const std::string xml = assembly->SerializeToXML(vtkIndent());
  std::string text((xml.size() + 2) / 3 * 4 + 4, '\0');
  const auto length =
      vtkBase64Utilities::Encode(reinterpret_cast<const unsigned char*>(xml.data()), xml.size(),
                                 reinterpret_cast<unsigned char*>(text.data()));
  text.resize(length);
  return "    <DataAssembly encoding=\"base64\">" + text + "</DataAssembly>\n";
}

const char* element_name(vtkDataObject* data, bool in_collection) {
  if (in_collection) return "Partitions";
  if (vtkMultiBlockDataSet::SafeDownCast(data)) return "Block";
  if (vtkMultiPieceDataSet::SafeDownCast(data)) return "Piece";
  return vtkDataObjectTree::SafeDownCast(data) ? nullptr : "DataSet";
}

class TreeWriter {
 public:
  TreeWriter(PieceFolder& folder, const WriteOptions& options)
      : folder_(folder), options_(options) {}

  /// The elements of all that is below `tree`.
  std::string elements(vtkDataObjectTree* tree, const std::string& indent,
                       const std::string& above) {
    const auto children = vtkSmartPointer<vtkDataObjectTreeIterator>::Take(tree->NewTreeIterator());
    children->VisitOnlyLeavesOff();
    children->TraverseSubTreeOff();
    children->SkipEmptyNodesOff();
    std::string text;
    std::size_t index = 0;
    for (children->InitTraversal(); !children->IsDoneWithTraversal();
         children->GoToNextItem(), ++index) {
      vtkInformation* metadata =
          children->HasCurrentMetaData() != 0 ? children->GetCurrentMetaData() : nullptr;
      const char* name = metadata && metadata->Has(vtkCompositeDataSet::NAME())
                             ? metadata->Get(vtkCompositeDataSet::NAME())
                             : nullptr;
      const std::string path =
          (above.empty() ? "" : above + "/") + (name ? std::string(name) : std::to_string(index));
      std::string attributes = " index=\"" + std::to_string(index) + "\"";
      if (name) attributes += " name=\"" + xml_escaped(name) + "\"";
      text += element(children->GetCurrentDataObject(), attributes, indent, path,
                      tree->IsA("vtkPartitionedDataSetCollection") != 0);
    }
    return text;
  }

 private:
  std::string element(vtkDataObject* child, std::string attributes, const std::string& indent,
                      const std::string& path, bool in_collection) {
    const char* tag = element_name(child, in_collection);
    if (!tag)
      throw UsageError("block '" + path + "' is a " + child->GetClassName() +
                       ", which a multi-block file cannot hold; convert it to a "
                       "vtkMultiPieceDataSet");
    if (auto* subtree = vtkDataObjectTree::SafeDownCast(child)) {
      if (subtree->GetFieldData() && subtree->GetFieldData()->GetNumberOfArrays() > 0)
        throw UsageError("block '" + path +
                         "' has field data, for which a multi-block file has no place; move them "
                         "to its data sets or to the root");
      return indent + "<" + tag + attributes + ">\n" + elements(subtree, indent + "  ", path) +
             indent + "</" + tag + ">\n";
    }
    if (child) attributes += " file=\"" + xml_escaped(write_leaf(child, path)) + "\"";
    return indent + "<DataSet" + attributes + "/>\n";
  }

  std::string write_leaf(vtkDataObject* child, const std::string& path) {
    auto* leaf = vtkDataSet::SafeDownCast(child);
    if (!leaf)
      throw UsageError("block '" + path + "' is a " + child->GetClassName() +
                       ", expected a mesh; remove it");
    const std::string extension = xml_extension(leaf);
    try {
      write_xml(leaf, folder_.piece(count_, extension), options_);
    } catch (const Error& error) {
      throw FileError("block '" + path + "': " + error.what());
    }
    return folder_.reference(count_++, extension);
  }

  PieceFolder& folder_;
  const WriteOptions& options_;
  std::size_t count_ = 0;
};

}  // namespace

vtkSmartPointer<vtkDataObject> read_multiblock(const fs::path& path, const ReadOptions&) {
  const FileBytes file(path);
  const XmlDocument document = parse_vtk_xml(file);
  const std::string type = document.root.attribute("type");
  check_xml_structure(document, file);
  const std::string version = document.root.attribute("version");
  if (!parse_double(version) || *parse_double(version) < 1 || *parse_double(version) >= 2)
    throw DataError("it is of version '" + version +
                    "' of the format, expected 1.0; write it anew "
                    "with a present VTK");
  const XmlElement* root = document.root.child(type);
  if (!root) throw DataError("it has no element <" + type + ">");
  const auto tree = TreeReader(path).read(*root);
  if (const auto fields = read_field_data(file, document, document.root))
    tree->SetFieldData(fields);
  return tree;
}

void write_multiblock(vtkDataObject* data, const fs::path& path, const WriteOptions& options) {
  auto* tree = vtkDataObjectTree::SafeDownCast(data);
  // A multi-piece data set is one as well, and is no root of a file of its own.
  const std::string type =
      vtkPartitionedDataSet::SafeDownCast(tree) ? "vtkPartitionedDataSet" : tree->GetClassName();
  PieceFolder folder(path);
  std::string elements = TreeWriter(folder, options).elements(tree, "    ", "");
  if (auto* collection = vtkPartitionedDataSetCollection::SafeDownCast(tree))
    if (collection->GetDataAssembly()) elements += assembly_element(collection->GetDataAssembly());
  const FieldDataText fields = field_data_text(tree->GetFieldData(), options);
  folder.commit("<?xml version=\"1.0\"?>\n<VTKFile type=\"" + type + "\" version=\"1.0\"" +
                fields.root_attributes + ">\n  <" + type + ">\n" + elements + "  </" + type +
                ">\n" + fields.element + "</VTKFile>\n");
}

}  // namespace funcattn

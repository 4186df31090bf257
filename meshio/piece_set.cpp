#include "meshio/piece_set.h"

#include <vtkCellData.h>
#include <vtkCompositeDataSet.h>
#include <vtkInformation.h>
#include <vtkNew.h>
#include <vtkPartitionedDataSet.h>
#include <vtkPointData.h>

#include <algorithm>
#include <memory>

#include "core/error.h"
#include "meshio/formats.h"
#include "meshio/parallel_format.h"
#include "meshio/parallel_index.h"
#include "meshio/piece_folder.h"
#include "meshio/write_preparation.h"
#include "meshio/xml_format.h"

namespace funcattn {

namespace fs = std::filesystem;

namespace {

/// Leaves what the index does not declare out, as VTK does.
void keep_declared(vtkFieldData* fields, const std::vector<std::string>& declared) {
  for (int i = fields->GetNumberOfArrays() - 1; i >= 0; --i) {
    const char* name = fields->GetAbstractArray(i)->GetName();
    if (!name || std::find(declared.begin(), declared.end(), name) == declared.end())
      fields->RemoveArray(i);
  }
}

PieceRange held_by(const ProcessGroup& processes, std::size_t total) {
  const auto size = static_cast<std::size_t>(processes.size());
  const auto rank = static_cast<std::size_t>(processes.rank());
  return {total * rank / size, total * (rank + 1) / size};
}

/// Runs `work`; what it throws gets the name of the file, once.
template <class Work>
auto naming(const std::string& failed, const Work& work) {
  try {
    return work();
  } catch (const UsageError&) {
    throw;
  } catch (const Error& error) {
    const std::string message = error.what();
    throw FileError(message.rfind(failed, 0) == 0 ? message : failed + message);
  } catch (const std::bad_alloc&) {
    throw FileError(failed + "there is not enough memory");
  }
}

/// The header of a piece as it travels, with the number of points, for pieces without any may lack
/// arrays.
std::string text_of(const PieceHeader& header, vtkIdType points) {
  return packed_texts({header.file_attributes, header.type, header.data_set_attributes,
                       header.sections, header.extent, points > 0 ? "1" : ""});
}

struct ToldPiece {
  PieceHeader header;
  bool has_points = false;
};

ToldPiece told(const std::string& text) {
  const std::vector<std::string> parts = unpacked_texts(text);
  return {{parts[0], parts[1], parts[2], parts[3], parts[4]}, !parts[5].empty()};
}

/// The header for the index: that of any piece with points. Throws DataError where these differ.
PieceHeader common_header(const std::vector<ToldPiece>& pieces) {
  std::size_t model = 0;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (!pieces[i].has_points) continue;
    if (!pieces[model].has_points) model = i;
    if (pieces[i].header.type != pieces[model].header.type ||
        pieces[i].header.sections != pieces[model].header.sections)
      throw DataError("pieces " + std::to_string(model) + " and " + std::to_string(i) +
                      " hold different arrays, or arrays of different types; one index cannot "
                      "declare both");
  }
  return pieces[model].header;
}

}  // namespace

MeshTree empty_tree(const std::string& origin) {
  return MeshTree(vtkSmartPointer<vtkPartitionedDataSet>::New(), origin);
}

bool is_in_pieces(const fs::path& path) {
  return naming("cannot read '" + path.string() + "': ",
                [&] { return format_of(path).read == read_parallel; });
}

PieceSet read_piece_set(const fs::path& path, const ProcessGroup& processes) {
  return naming("cannot read '" + path.string() + "': ", [&] {
    const std::size_t total = inspect_index(path, {0, 0}).files.size();
    const PieceRange held = held_by(processes, total);
    const ParallelIndex index = inspect_index(path, held);
    vtkNew<vtkPartitionedDataSet> pieces;
    for (std::size_t i = held.begin; i < held.end; ++i) {
      const auto data = read_serial_xml(index.files[i]);
      auto* piece = vtkDataSet::SafeDownCast(data);
      keep_declared(piece->GetPointData(), index.declared.point_arrays);
      keep_declared(piece->GetCellData(), index.declared.cell_arrays);
      add_missing_fields(index.fields, *piece);
      const auto number = static_cast<unsigned int>(i - held.begin);
      pieces->SetPartition(number, piece);
      pieces->GetMetaData(number)->Set(vtkCompositeDataSet::NAME(),
                                       ("piece " + std::to_string(i)).c_str());
    }
    return PieceSet{MeshTree(pieces, path.string()), index.type,
                    is_structured(index.type) ? index.whole.text() : std::string(), held.begin,
                    total};
  });
}

void check_piece_format(const PieceSet& set, const fs::path& path) {
  const FormatSupport* support = find_format(path);
  const std::string signature = "VTKFile:" + set.type;
  if (support && !support->signatures.empty() && support->signatures.front() == signature) return;
  std::string extension;
  for (const FormatSupport& known : format_table())
    if (!known.signatures.empty() && known.signatures.front() == signature)
      extension = known.format.extension;
  throw UsageError("cannot write '" + path.string() +
                   "': the pieces of several processes become a file of pieces again; use the "
                   "extension " +
                   extension);
}

void write_piece_set(const PieceSet& set, const fs::path& path, const WriteOptions& options,
                     ProcessGroup& processes) {
  check_piece_format(set, path);
  naming("cannot write '" + path.string() + "': ", [&] {
    const std::vector<Mesh> leaves = prepared_leaves(set.tree, options);
    std::string extension = fs::path(find_format(path)->format.extension).string();
    extension.erase(1, 1);  // ".pvtu": pieces are .vtu.
    std::unique_ptr<PieceFolder> folder;
    std::vector<std::string> files;  // Of all pieces.
    if (processes.is_first()) {
      folder = std::make_unique<PieceFolder>(path);
      for (std::size_t i = 0; i < set.total; ++i)
        files.push_back(fs::absolute(folder->piece(i, extension)).string());
    }
    files = unpacked_texts(processes.gather(packed_texts(files)).front());
    std::vector<std::string> headers;
    for (std::size_t i = 0; i < leaves.size(); ++i) {
      const fs::path file = files.at(set.first + i);
      write_xml(leaves[i].vtk(), file, options);
      headers.push_back(text_of(piece_header(parse_vtk_xml(FileBytes(file)).root),
                                leaves[i].vtk()->GetNumberOfPoints()));
    }
    std::vector<ToldPiece> pieces;
    for (const std::string& of_process : processes.gather(packed_texts(headers)))
      for (const std::string& text : unpacked_texts(of_process)) pieces.push_back(told(text));
    if (!folder) return;
    std::vector<ListedPiece> listed;
    for (std::size_t i = 0; i < pieces.size(); ++i)
      listed.push_back({folder->reference(i, extension), pieces[i].header.extent});
    folder->commit(parallel_index_text(common_header(pieces), set.whole_extent, listed));
  });
}

}  // namespace funcattn

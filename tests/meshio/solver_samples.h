#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace funcattn {

// Small files of solvers, written anew for each test.

/// Two tetrahedra of volumes 1/6 and 1/3 with the nodal array "pressure".
void store_exodus(const std::filesystem::path& path);

/// Two unit cubes side by side, with the cell field p at times 0 and 0.5: case.foam in `folder`.
void store_foam(const std::filesystem::path& folder);

/// One tetrahedron of volume 1/6 with "pressure" at times 0.25 and 1.5 and the cell array
/// "material": a.case in `folder`.
void store_ensight(const std::filesystem::path& folder);

/// What is to be wrong, or different, in a VTKHDF file.
struct HdfChanges {
  std::string type = "UnstructuredGrid";
  std::int64_t version = 1;
  std::int64_t last_id = 4;
  bool steps = false;
  bool text = false;      ///< A point array of text.
  bool booleans = false;  ///< One as h5py stores booleans.
  /// A field array of text, as there are several kinds.
  enum class FieldText { none, variable, variable_utf8, fixed, scalar };
  FieldText field_text = FieldText::none;
};

/// The tetrahedra of store_exodus().
void store_vtkhdf(const std::filesystem::path& path, const HdfChanges& changes = {});

}  // namespace funcattn

#pragma once

#include <optional>
#include <string>
#include <vector>

class vtkDataObject;

namespace funcattn {

/// All values of an array of the field data, one tuple after the other; nothing where there is no
/// array of that name. Throws DataError, with `origin`, for arrays that are not numeric.
std::optional<std::vector<double>> field_values(vtkDataObject* data, const std::string& name,
                                                const std::string& origin);

/// "1.7" or "(1, 0, 2)", for messages.
std::string field_text(const std::vector<double>& values);

/// Names in the order of the field data.
std::vector<std::string> field_names(vtkDataObject* data);

}  // namespace funcattn

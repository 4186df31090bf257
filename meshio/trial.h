#pragma once

#include <filesystem>
#include <functional>

namespace funcattn {

/// Whether `attempt` can be run without ending the process: it is run first in a forked copy of
/// this process, for readers of VTK that damaged text can lead out of their memory or into an
/// endless loop, and whose inspection would be as long as they are. Throws DataError if the copy
/// crashes or does not come to an end; it may take ten seconds and one more for each megabyte below
/// `folder`. A copy that cannot be made decides nothing.
///
/// What `attempt` writes to memory or standard error is lost; exceptions in it count as a good end.
void require_to_survive(const std::filesystem::path& folder, const std::function<void()>& attempt);

}  // namespace funcattn

#pragma once

namespace funcattn {

/// Asks the system for large pages below numbers that are still to be set, where that helps: for
/// ten million, fetching memory page by page costs as much as computing them.
void advise_large_pages(const double* begin, const double* end);

/// The same for an Eigen array of doubles, which is handed back as it is.
template <class Numbers>
Numbers in_large_pages(Numbers numbers) {
  advise_large_pages(numbers.data(), numbers.data() + numbers.size());
  return numbers;
}

}  // namespace funcattn

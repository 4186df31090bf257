// Damages small files of every format and reads them: funcattn_meshio_fuzz [COUNT [FIRST_SEED]]
//
// ./dev fuzz builds it with AddressSanitizer and UndefinedBehaviorSanitizer. VTK and the libraries
// below it come from the system without instrumentation: what they write outside their memory shows
// only where it hits this code, the allocator's own checks or a page that is not there.

#include <stdlib.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <map>
#include <string>

#include "core/text.h"
#include "tests/meshio/mutants.h"

int main(int count, char** words) {
  using namespace funcattn;
  namespace fs = std::filesystem;
  const std::int64_t mutants = count > 1 ? parse_integer(words[1]).value_or(0) : 10'000;
  const std::int64_t first = count > 2 ? parse_integer(words[2]).value_or(-1) : 1;
  if (mutants <= 0 || first < 0) {
    std::fprintf(stderr, "usage: funcattn_meshio_fuzz [COUNT [FIRST_SEED]]\n");
    return 2;
  }
  std::string pattern = (fs::temp_directory_path() / "funcattn-fuzz-XXXXXX").string();
  if (!::mkdtemp(pattern.data())) return 1;
  const auto originals = store_originals(pattern);
  std::map<std::string, std::array<std::int64_t, 2>> outcomes;  // refused, read
  int failures = 0;
  for (std::int64_t i = 0; i < mutants; ++i) {
    const auto seed = static_cast<std::uint64_t>(first + i);
    const Original& original = originals[seed % originals.size()];
    // Stands there alone if the next step ends the process.
    std::printf("\r%s, seed %llu                ", original.name.c_str(),
                static_cast<unsigned long long>(seed));
    std::fflush(stdout);
    try {
      ++outcomes[original.name][try_mutant(original, seed) == Outcome::read ? 1 : 0];
    } catch (const std::logic_error& error) {
      std::printf("\n%s\n", error.what());
      ++failures;
    }
  }
  fs::remove_all(pattern);
  std::printf("\r%-30s %10s %10s\n", "format", "refused", "read");
  for (const auto& [name, numbers] : outcomes)
    std::printf("%-30s %10lld %10lld\n", name.c_str(), static_cast<long long>(numbers[0]),
                static_cast<long long>(numbers[1]));
  std::printf("%lld mutants from seed %lld, %d failures\n", static_cast<long long>(mutants),
              static_cast<long long>(first), failures);
  return failures == 0 ? 0 : 1;
}

#include "examples/evaluate/gnuplot.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>

#include "core/atomic_file.h"
#include "core/error.h"
#include "core/text.h"

namespace funcattn {

namespace {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "funcattn-plot-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr)
      throw FileError("cannot make a temporary folder for gnuplot; check TMPDIR");
    path_ = pattern;
    notes_.emplace_back(path_);
    for (const char* name : {"script", "errors", "plot.png"}) notes_.emplace_back(path_ / name);
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  std::vector<TemporaryPath> notes_;
};

// Runs `gnuplot script` in `folder` and returns its exit status; its output goes to files there.
int run_gnuplot(const std::filesystem::path& folder) {
  const pid_t child = ::fork();
  if (child < 0) return -1;
  if (child == 0) {
    if (::chdir(folder.c_str()) != 0) std::_Exit(126);
    if (std::freopen("errors", "w", stderr) == nullptr) std::_Exit(126);
    ::execlp("gnuplot", "gnuplot", "script", static_cast<char*>(nullptr));
    std::_Exit(127);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

std::string first_line_of(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \n\t^");
  if (begin == std::string::npos) return "no message";
  return text.substr(begin, text.find('\n', begin) - begin);
}

}  // namespace

std::string gnuplot_text(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '\n') {
      quoted += "\\n";
      continue;
    }
    if (c == '"' || c == '\\') quoted += '\\';
    if (c == '_' || c == '^' || c == '{' || c == '}' || c == '@' || c == '&' || c == '~')
      quoted += "\\\\";
    quoted += c;
  }
  return quoted + '"';
}

std::vector<double> logarithmic_ticks(double low, double high) {
  constexpr std::size_t enough = 3, most = 9;
  const int first = static_cast<int>(std::floor(std::log10(low)));
  const int last = static_cast<int>(std::floor(std::log10(high)));
  const auto within = [&](const std::vector<double>& tenths, int step) {
    std::vector<double> ticks;
    for (int decade = first; decade <= last; ++decade) {
      if (decade % step != 0) continue;
      for (const double whole : tenths) {
        // Of whole numbers, so that it is the double nearest to 0.15.
        const double tick =
            decade < 1 ? whole / std::pow(10.0, 1 - decade) : whole * std::pow(10.0, decade - 1);
        if (tick >= low && tick <= high) ticks.push_back(tick);
      }
    }
    return ticks;
  };
  std::vector<double> ticks = within({10, 20, 50}, 1);
  if (ticks.size() < enough) ticks = within({10, 15, 20, 30, 40, 50, 70}, 1);
  if (ticks.size() < enough)
    ticks = within({10, 12, 14, 16, 18, 20, 22, 25, 28, 30, 35, 40, 45, 50, 60, 70, 80, 90}, 1);
  for (int step = 1; ticks.size() > most; ++step) ticks = within({10}, step);
  return ticks;
}

std::string logarithmic_axis(char axis, const std::vector<double>& values) {
  // In logarithms, as a share of the range. The shortest axis has labels wherever it lies.
  constexpr double margin = 0.05, least_margin = 1.05, shortest = 1.4;
  double low = std::numeric_limits<double>::infinity(), high = 0;
  for (const double value : values) {
    if (!std::isfinite(value) || value <= 0) continue;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  const std::string name(1, axis);
  std::string script = "set logscale " + name + "\n";
  if (high == 0) return script;
  const double span = high / low;
  const double factor =
      std::max({least_margin, std::pow(span, margin), std::sqrt(shortest / span)});
  low /= factor;
  high *= factor;
  script += "set " + name + "range [" + format_number(low) + ":" + format_number(high) + "]\nset " +
            name + "tics (";
  bool first = true;
  for (const double tick : logarithmic_ticks(low, high)) {
    const std::string text = format_number(tick);
    script += (first ? "" : ", ") + gnuplot_text(text) + " " + text;
    first = false;
  }
  return script + ")\n";
}

void draw_png(const std::filesystem::path& path, int width, int height,
              const std::vector<PlotData>& data, const std::string& script) {
  AtomicFile target(path);
  const TemporaryFolder folder;
  std::string text =
      "set encoding utf8\nset terminal pngcairo enhanced font 'DejaVu Sans,11' size " +
      std::to_string(width) + "," + std::to_string(height) + "\nset output 'plot.png'\n";
  for (const PlotData& block : data) {
    text += "$" + block.name + " << EOD\n";
    for (const auto& row : block.rows) {
      for (const double value : row)
        text += (std::isfinite(value) ? format_number(value) : "?") + " ";
      text += "\n";
    }
    text += "EOD\n";
  }
  text += script;
  write_file_atomically(folder.path() / "script", text);
  const int status = run_gnuplot(folder.path());
  if (status == 127)
    throw FileError("cannot draw '" + path.string() +
                    "': gnuplot was not found; install the package gnuplot-nox");
  if (status != 0)
    throw FileError("cannot draw '" + path.string() +
                    "': gnuplot says: " + first_line_of(read_file(folder.path() / "errors")));
  target.write(read_file(folder.path() / "plot.png"));
  target.commit();
}

}  // namespace funcattn

#include "plugin/cli/progress_bar.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "core/text.h"

namespace funcattn {

namespace {

constexpr double seconds_between_redraws = 0.1;
constexpr double seconds_between_lines = 10;
constexpr std::size_t bar_width = 24;

std::string two_digits(std::int64_t value) {
  return (value < 10 ? "0" : "") + std::to_string(value);
}

}  // namespace

std::string format_duration(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::llround(std::max(0.0, seconds)));
  if (whole < 60) return std::to_string(whole) + " s";
  if (whole < 3600) return std::to_string(whole / 60) + " min " + two_digits(whole % 60) + " s";
  return std::to_string(whole / 3600) + " h " + two_digits(whole % 3600 / 60) + " min";
}

double ProgressBar::steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

ProgressBar::ProgressBar(std::ostream& log, Style style, std::string label, std::int64_t total,
                         std::string unit, Clock clock)
    : log_(log),
      style_(style),
      label_(std::move(label)),
      total_(total),
      unit_(std::move(unit)),
      clock_(std::move(clock)),
      start_(clock_()),
      last_print_(start_) {}

ProgressBar::~ProgressBar() {
  finish();
}

void ProgressBar::update(std::int64_t done, const std::string& note) {
  done_ = done;
  note_ = note;
  changed_ = true;
  if (style_ == Style::silent) return;
  const double now = clock_();
  const double pause = style_ == Style::redrawn ? seconds_between_redraws : seconds_between_lines;
  if (now - last_print_ >= pause) print(now);
}

void ProgressBar::finish() {
  if (finished_) return;
  finished_ = true;
  if (style_ == Style::silent) return;
  if (changed_) print(clock_());
  if (style_ == Style::redrawn && drawn_ > 0) log_ << std::endl;
}

std::string ProgressBar::line(double now) const {
  const double elapsed = now - start_;
  const double rate = elapsed > 0 ? static_cast<double>(done_) / elapsed : 0;
  std::string text = label_ + " ";
  if (total_ > 0) {
    const double fraction =
        std::clamp(static_cast<double>(done_) / static_cast<double>(total_), 0.0, 1.0);
    if (style_ == Style::redrawn) {
      const auto filled = static_cast<std::size_t>(fraction * bar_width);
      text += "[" + std::string(filled, '#') + std::string(bar_width - filled, '.') + "] ";
    }
    text += std::to_string(done_) + "/" + std::to_string(total_) + " " + unit_;
  } else {
    text += std::to_string(done_) + " " + unit_;
  }
  if (rate > 0) text += ", " + format_significant(rate, 3) + " " + unit_ + "/s";
  if (total_ > done_ && rate > 0)
    text += ", " + format_duration(static_cast<double>(total_ - done_) / rate) + " left";
  else
    text += ", " + format_duration(elapsed);
  return note_.empty() ? text : text + ", " + note_;
}

void ProgressBar::print(double now) {
  const std::string text = line(now);
  if (style_ == Style::redrawn) {
    log_ << '\r' << text << std::string(drawn_ > text.size() ? drawn_ - text.size() : 0, ' ');
    drawn_ = text.size();
  } else {
    log_ << text << '\n';
  }
  log_.flush();
  last_print_ = now;
  changed_ = false;
}

}  // namespace funcattn

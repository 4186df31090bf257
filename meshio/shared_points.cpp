#include "meshio/shared_points.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <limits>
#include <string_view>
#include <tuple>
#include <utility>

#include "meshio/joined_pieces.h"

namespace funcattn {

namespace {

/// A point that another piece may hold as well, as it travels.
struct Candidate {
  std::array<double, 3> place{};
  std::int32_t rank = 0;  ///< Of the process, and there the number of the piece.
  std::int32_t piece = 0;
  std::int64_t weighs = 0;  ///< 1 or 0.
};

/// In how many pieces a point is.
struct Holders {
  std::int32_t weighing = 0;
  std::int32_t all = 0;
};

struct Box {
  std::int32_t rank = 0;
  std::int32_t piece = 0;
  std::array<double, 3> low{}, high{};

  bool holds(const std::array<double, 3>& place) const {
    for (std::size_t axis = 0; axis < 3; ++axis)
      if (place[axis] < low[axis] || place[axis] > high[axis]) return false;
    return true;
  }
  bool meets(const Box& other) const {
    for (std::size_t axis = 0; axis < 3; ++axis)
      if (other.high[axis] < low[axis] || other.low[axis] > high[axis]) return false;
    return true;
  }
};

template <class T>
std::string bytes_of(const std::vector<T>& items) {
  return {reinterpret_cast<const char*>(items.data()), items.size() * sizeof(T)};
}

template <class T>
std::vector<T> items_of(const std::string& bytes) {
  std::vector<T> items(bytes.size() / sizeof(T));
  std::memcpy(items.data(), bytes.data(), items.size() * sizeof(T));
  return items;
}

/// Coordinates of a mesh's points, of which a piece has some.
using Coordinates = Eigen::Map<const RowMatrix>;

/// The points of one piece that may be shared.
struct Piece {
  std::size_t mesh = 0;
  Eigen::Index first = 0;            ///< Entry of the mesh's first point.
  std::vector<Eigen::Index> points;  ///< Of the mesh, that are no mere ghosts and have a place.
  Box box;
};

std::array<double, 3> place_of(const Coordinates& coordinates, Eigen::Index row) {
  // 0 and -0 are one place.
  return {coordinates(row, 0) + 0.0, coordinates(row, 1) + 0.0, coordinates(row, 2) + 0.0};
}

/// Points [begin, end) of a mesh as a piece of theirs.
Piece piece_of(Piece piece, const Coordinates& coordinates, const Eigen::VectorXd& shares,
               Eigen::Index begin, Eigen::Index end) {
  piece.box.low.fill(std::numeric_limits<double>::infinity());
  piece.box.high.fill(-std::numeric_limits<double>::infinity());
  for (Eigen::Index row = begin; row < end; ++row) {
    if (shares[piece.first + row] == 0 || !coordinates.row(row).allFinite()) continue;
    piece.points.push_back(row);
    for (int axis = 0; axis < 3; ++axis) {
      double& low = piece.box.low[static_cast<std::size_t>(axis)];
      double& high = piece.box.high[static_cast<std::size_t>(axis)];
      low = std::min(low, coordinates(row, axis));
      high = std::max(high, coordinates(row, axis));
    }
  }
  return piece;
}

std::size_t home_of(const std::array<double, 3>& place, int processes) {
  const std::string_view bytes(reinterpret_cast<const char*>(place.data()), sizeof place);
  return std::hash<std::string_view>()(bytes) % static_cast<std::size_t>(processes);
}

/// For every candidate, in how many pieces its place is.
std::vector<std::string> count_holders(const std::vector<std::string>& received) {
  struct Entry {
    Candidate candidate;
    std::size_t from;
    std::size_t index;
  };
  std::vector<Entry> entries;
  std::vector<std::vector<Holders>> answers(received.size());
  for (std::size_t from = 0; from < received.size(); ++from) {
    const auto candidates = items_of<Candidate>(received[from]);
    answers[from].resize(candidates.size());
    for (std::size_t i = 0; i < candidates.size(); ++i) entries.push_back({candidates[i], from, i});
  }
  // Those that weigh something come first among the entries of a piece.
  const auto key = [](const Entry& entry) {
    const Candidate& c = entry.candidate;
    return std::make_tuple(c.place, c.rank, c.piece, -c.weighs);
  };
  std::sort(entries.begin(), entries.end(),
            [&](const Entry& a, const Entry& b) { return key(a) < key(b); });
  for (std::size_t begin = 0; begin < entries.size();) {
    Holders holders;
    std::size_t end = begin;
    for (; end < entries.size() && entries[end].candidate.place == entries[begin].candidate.place;
         ++end) {
      const Candidate& one = entries[end].candidate;
      const bool is_new = end == begin || entries[end - 1].candidate.rank != one.rank ||
                          entries[end - 1].candidate.piece != one.piece;
      if (!is_new) continue;
      ++holders.all;
      if (one.weighs != 0) ++holders.weighing;
    }
    for (; begin < end; ++begin) answers[entries[begin].from][entries[begin].index] = holders;
  }
  std::vector<std::string> texts;
  for (const std::vector<Holders>& answer : answers) texts.push_back(bytes_of(answer));
  return texts;
}

}  // namespace

bool has_pieces(const std::vector<Mesh>& meshes) {
  std::size_t pieces = 0;
  for (const Mesh& mesh : meshes)
    for (const Eigen::Index size : piece_sizes(*mesh.vtk())) pieces += size > 0 ? 1 : 0;
  return pieces > 1;
}

Eigen::VectorXd point_shares(const std::vector<Mesh>& meshes, Association association,
                             const Eigen::VectorXd& weights, ProcessGroup* group) {
  SingleProcess alone;
  ProcessGroup& processes = group ? *group : alone;
  Eigen::VectorXd shares(weights.size());
  std::vector<DoubleView> coordinates;
  std::vector<Piece> pieces;
  Eigen::Index first = 0;
  for (const Mesh& mesh : meshes) {
    const Eigen::Index count = mesh.count(association);
    if (count == 0) continue;
    const Eigen::VectorXd present = mesh.presence(association);
    for (Eigen::Index row = 0; row < count; ++row)
      shares[first + row] = weights[first + row] > 0 || present[row] > 0 ? 1 : 0;
    if (association == Association::point) {
      coordinates.push_back(mesh.coordinate_view(association));
      Eigen::Index begin = 0;
      for (const Eigen::Index size : piece_sizes(*mesh.vtk())) {
        Piece piece;
        piece.mesh = coordinates.size() - 1;
        piece.first = first;
        piece.box.rank = processes.rank();
        piece.box.piece = static_cast<std::int32_t>(pieces.size());
        pieces.push_back(
            piece_of(std::move(piece), coordinates.back().matrix(), shares, begin, begin + size));
        begin += size;
      }
    }
    first += count;
  }
  if (association == Association::cell) return shares;

  // A point is shared only where the boxes of two pieces meet.
  std::vector<Box> mine;
  for (const Piece& piece : pieces)
    if (!piece.points.empty()) mine.push_back(piece.box);
  std::vector<Box> boxes;
  for (const std::string& text : processes.gather(bytes_of(mine)))
    for (const Box& box : items_of<Box>(text)) boxes.push_back(box);

  const auto ranks = static_cast<std::size_t>(processes.size());
  std::vector<std::vector<Candidate>> candidates(ranks);
  std::vector<std::vector<Eigen::Index>> entries(ranks);  // Of each candidate.
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const Piece& piece = pieces[i];
    std::vector<Box> near;
    for (const Box& box : boxes)
      if ((box.rank != piece.box.rank || box.piece != piece.box.piece) && box.meets(piece.box))
        near.push_back(box);
    if (near.empty()) continue;
    const Coordinates places = coordinates[piece.mesh].matrix();
    for (const Eigen::Index row : piece.points) {
      const std::array<double, 3> place = place_of(places, row);
      if (std::none_of(near.begin(), near.end(), [&](const Box& box) { return box.holds(place); }))
        continue;
      const std::size_t home = home_of(place, processes.size());
      candidates[home].push_back(
          {place, piece.box.rank, piece.box.piece, weights[piece.first + row] > 0 ? 1 : 0});
      entries[home].push_back(piece.first + row);
    }
  }
  std::vector<std::string> questions;
  for (const std::vector<Candidate>& list : candidates) questions.push_back(bytes_of(list));
  const auto answers = processes.exchange(count_holders(processes.exchange(questions)));
  for (std::size_t home = 0; home < ranks; ++home) {
    const auto holders = items_of<Holders>(answers[home]);
    for (std::size_t i = 0; i < holders.size(); ++i) {
      const Eigen::Index entry = entries[home][i];
      const bool weighs = weights[entry] > 0;
      const double number = weighs ? holders[i].weighing : holders[i].all;
      shares[entry] = weighs || holders[i].weighing == 0 ? 1 / number : 0;
    }
  }
  return shares;
}

}  // namespace funcattn

#include "meshio/xml_pieces.h"

#include "core/error.h"
#include "meshio/xml_names.h"

namespace funcattn {

namespace {

const XmlElement& data_set_of(const XmlDocument& document) {
  return *document.root.child(document.root.attribute("type"));
}

/// Where the text of each child of the data set ends: where the next begins, or the closing tag.
std::vector<std::uint64_t> ends_of_children(const FileBytes& file, const XmlDocument& document) {
  const XmlElement& data_set = data_set_of(document);
  std::vector<std::uint64_t> ends;
  for (std::size_t i = 1; i < data_set.children.size(); ++i)
    ends.push_back(data_set.children[i].position);
  const std::uint64_t last = data_set.children.back().position;
  const std::uint64_t text_end = document.appended ? document.appended->begin : file.size();
  const std::size_t closing = file.read(last, text_end - last).rfind("</" + data_set.name);
  if (closing == std::string::npos) throw DataError("its <" + data_set.name + "> does not end");
  ends.push_back(last + closing);
  return ends;
}

}  // namespace

std::vector<const XmlElement*> pieces_of(const XmlElement& data_set) {
  std::vector<const XmlElement*> pieces;
  for (const XmlElement& child : data_set.children)
    if (child.name == "Piece") pieces.push_back(&child);
  return pieces;
}

std::string attributes_text(const std::map<std::string, std::string>& attributes) {
  std::string text;
  for (const auto& [key, value] : attributes) text += " " + key + "=\"" + xml_escaped(value) + "\"";
  return text;
}

std::string with_pieces(const FileBytes& file, const XmlDocument& document,
                        const std::map<std::string, std::string>& attributes,
                        const std::vector<std::string>& pieces) {
  const XmlElement& data_set = data_set_of(document);
  const std::vector<std::uint64_t> ends = ends_of_children(file, document);
  std::string text =
      file.read(0, data_set.position) + "<" + data_set.name + attributes_text(attributes) + ">\n";
  std::size_t piece = 0;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    const XmlElement& child = data_set.children[i];
    text += child.name == "Piece" ? pieces.at(piece++)
                                  : file.read(child.position, ends[i] - child.position);
  }
  return text + file.read(ends.back(), file.size() - ends.back());
}

std::string file_of_piece(const FileBytes& file, const XmlDocument& document, std::size_t i) {
  const XmlElement& data_set = data_set_of(document);
  const std::vector<std::uint64_t> ends = ends_of_children(file, document);
  std::map<std::string, std::string> attributes = data_set.attributes;
  std::vector<std::string> pieces;
  std::size_t number = 0;
  for (std::size_t child = 0; child < ends.size(); ++child) {
    const XmlElement& element = data_set.children[child];
    if (element.name != "Piece") continue;
    pieces.emplace_back();
    if (number++ != i) continue;
    pieces.back() = file.read(element.position, ends[child] - element.position);
    if (attributes.count("WholeExtent") > 0)
      attributes["WholeExtent"] = element.attribute("Extent");
  }
  return with_pieces(file, document, attributes, pieces);
}

}  // namespace funcattn

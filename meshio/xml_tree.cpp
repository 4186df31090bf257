#include "meshio/xml_tree.h"

#include <vtkNew.h>
#include <vtkXMLParser.h>

#include <algorithm>

#include "core/error.h"
#include "core/text.h"

namespace funcattn {

namespace {

constexpr std::size_t kDeepestNesting = 64;
constexpr std::uint64_t kChunk = 1 << 20;
constexpr const char* kWhitespace = " \t\r\n";

/// Builds the tree; stops at <AppendedData>, behind which there may be anything.
class TreeParser : public vtkXMLParser {
 public:
  static TreeParser* New() {
    auto* parser = new TreeParser;
    parser->InitializeObjectBase();
    return parser;
  }
  vtkTypeMacro(TreeParser, vtkXMLParser)

  XmlElement root;
  std::optional<std::uint64_t> appended_at;
  std::string appended_encoding;
  std::string problem;

 protected:
  void StartElement(const char* name, const char** attributes) override {
    if (stopped()) return;
    XmlElement element;
    element.name = name;
    element.position = static_cast<std::uint64_t>(GetXMLByteIndex());
    for (; attributes && attributes[0]; attributes += 2)
      element.attributes[attributes[0]] = attributes[1];
    if (element.name == "AppendedData") {
      appended_at = static_cast<std::uint64_t>(GetXMLByteIndex());
      appended_encoding = element.attribute("encoding", "base64");
      return;
    }
    if (open_.empty()) {
      root = std::move(element);
      open_.push_back(&root);
    } else if (open_.size() >= kDeepestNesting) {
      problem = "its elements are nested too deeply";
    } else {
      open_.back()->children.push_back(std::move(element));
      open_.push_back(&open_.back()->children.back());
    }
  }
  void EndElement(const char*) override {
    if (!stopped() && !open_.empty()) open_.pop_back();
  }
  void CharacterDataHandler(const char* data, int length) override {
    if (!stopped() && !open_.empty())
      open_.back()->text.append(data, static_cast<std::size_t>(length));
  }
  void ReportXmlParseError() override {
    if (stopped()) return;
    problem = "its XML is broken or ends early, near byte " + std::to_string(GetXMLByteIndex());
  }

 private:
  bool stopped() const { return appended_at.has_value() || !problem.empty(); }
  std::vector<XmlElement*> open_;
};

AppendedSection locate_appended(const FileBytes& file, std::uint64_t tag,
                                const std::string& encoding) {
  if (encoding != "raw" && encoding != "base64")
    throw DataError("its appended data are encoded as '" + encoding + "', expected raw or base64");
  const DataError cut_off("the appended data end early; the file is cut short");
  AppendedSection section;
  section.base64 = encoding == "base64";
  const std::string start = file.read(tag, 4096);
  const auto tag_end = start.find('>');
  const auto mark = tag_end == std::string::npos
                        ? std::string::npos
                        : start.find_first_not_of(kWhitespace, tag_end + 1);
  if (mark == std::string::npos) throw cut_off;
  if (start[mark] != '_')
    throw DataError("its appended data do not begin with an underscore; the file is damaged");
  section.begin = tag + mark + 1;

  const std::string closing = "</AppendedData>";
  const std::uint64_t tail_at =
      std::max<std::uint64_t>(section.begin, file.size() > 4096 ? file.size() - 4096 : 0);
  const std::string tail = file.read(tail_at, 4096);
  const auto close = tail.rfind(closing);
  if (close == std::string::npos) throw cut_off;
  const auto last = tail.find_first_not_of(kWhitespace, close + closing.size());
  if (last == std::string::npos || tail.compare(last, 10, "</VTKFile>") != 0) throw cut_off;
  if (tail.find_first_not_of(kWhitespace, last + 10) != std::string::npos)
    throw DataError("something follows behind </VTKFile>; the file is damaged");
  section.end = tail_at + close;
  return section;
}

}  // namespace

std::string XmlElement::attribute(const std::string& key, const std::string& otherwise) const {
  const auto found = attributes.find(key);
  return found == attributes.end() ? otherwise : found->second;
}

std::int64_t XmlElement::count(const std::string& key, std::int64_t otherwise) const {
  return attributes.count(key) ? count(key) : otherwise;
}

std::int64_t XmlElement::count(const std::string& key) const {
  if (!attributes.count(key)) throw DataError("<" + name + "> has no attribute " + key);
  const std::string text_value = attribute(key);
  const auto value = parse_integer(text_value);
  if (!value || *value < 0)
    throw DataError("<" + name + "> has " + key + "=\"" + text_value +
                    "\", expected an integer >= 0");
  return *value;
}

const XmlElement* XmlElement::child(const std::string& wanted) const {
  for (const XmlElement& candidate : children)
    if (candidate.name == wanted) return &candidate;
  return nullptr;
}

void collect_layouts(const XmlElement& section, std::map<std::string, std::string>& layouts) {
  const bool parallel = section.name.size() > 1 && section.name[0] == 'P' &&
                        section.name[1] >= 'A' && section.name[1] <= 'Z';
  const std::string name = parallel ? section.name.substr(1) : section.name;
  // Of cells VTK makes its own arrays, whatever their type in the file.
  if (name != "PointData" && name != "CellData" && name != "Points" && name != "Coordinates")
    return;
  const bool by_number = name == "Points" || name == "Coordinates";
  std::size_t number = 0;
  for (const XmlElement& array : section.children) {
    if (array.name != "DataArray" && array.name != "Array" && array.name != "PDataArray" &&
        array.name != "PArray")
      continue;
    const std::string key = by_number ? std::to_string(number) : array.attribute("Name");
    layouts[name + "/" + key] =
        array.attribute("type") + " x " + array.attribute("NumberOfComponents", "1");
    ++number;
  }
}

XmlDocument parse_vtk_xml(const FileBytes& file) {
  vtkNew<TreeParser> parser;
  parser->InitializeParser();
  for (std::uint64_t at = 0; at < file.size(); at += kChunk) {
    const std::string chunk = file.read(at, kChunk);
    const bool parsed = parser->ParseChunk(chunk.data(), static_cast<unsigned>(chunk.size())) != 0;
    if (!parsed || parser->appended_at || !parser->problem.empty()) break;
  }
  parser->CleanupParser();
  if (!parser->problem.empty()) throw DataError(parser->problem);
  XmlDocument document;
  document.root = std::move(parser->root);
  if (parser->appended_at)
    document.appended = locate_appended(file, *parser->appended_at, parser->appended_encoding);
  return document;
}

}  // namespace funcattn

#include "golden/custom_operation.h"

#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>

#include "optable/lookup.h"
#include "passes/rewrite/custom_passes.h"

namespace tessiq::golden {
namespace {

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::stringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) {
    part.erase(0, part.find_first_not_of(' '));
    parts.push_back(part);
  }
  return parts;
}

Result<std::string> read(const std::string& file) {
  std::ifstream stream(std::string(TESSIQ_SOURCE_DIR) + "/" + file, std::ios::binary);
  if (!stream) {
    return not_found("there is no pattern file " + file);
  }
  return std::string(std::istreambuf_iterator<char>(stream), {});
}

}  // namespace

Result<void> register_operation(std::string_view line) {
  static std::map<std::string, std::string> known;
  const std::string text(line);
  const size_t open = text.find('(');
  const size_t close = text.find(") ");
  const size_t file = text.rfind(' ');
  if (open == std::string::npos || close == std::string::npos || file <= close + 1) {
    return invalid_argument("an operation is written name(%tensor, number) types file, and not \"" + text + "\"");
  }
  passes::CustomCall call;
  call.name = text.substr(0, open);
  call.op = "tessiq." + call.name + ".default";
  if (const auto [entry, is_new] = known.emplace(call.name, text); !is_new) {
    return entry->second == text ? Result<void>() : invalid_argument("two operations are called " + call.name);
  }
  for (const std::string& argument : split(text.substr(open + 1, close - open - 1), ',')) {
    const bool is_tensor = argument.starts_with('%');
    call.arguments.push_back({argument.substr(is_tensor ? 1 : 0), is_tensor});
  }
  const std::string name = "tessiq." + call.name;
  optable::OpInfo row;
  row.name = name;
  row.aten = {call.op};
  row.category = optable::Category::kCustom;
  row.kernel = true;
  for (const std::string& type : split(text.substr(close + 2, file - close - 2), ',')) {
    const auto element = ir::parse_element_type(type);
    if (!element) {
      return invalid_argument("there is no element type " + type);
    }
    row.element_types |= 1U << static_cast<uint32_t>(*element);
  }
  TESSIQ_ASSIGN_OR_RETURN(const optable::OpInfo* registered, optable::register_op(row));
  static_cast<void>(registered);
  TESSIQ_ASSIGN_OR_RETURN(const std::string pattern, read(text.substr(file + 1)));
  return passes::register_rewrite(std::move(call), pattern);
}

}  // namespace tessiq::golden

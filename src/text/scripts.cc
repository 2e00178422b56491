#include "text/scripts.h"

#include <algorithm>
#include <iterator>

namespace vitro {
namespace {

struct Script {
  std::string_view name;
  size_t first = 0;  ///< of kScriptRanges
  size_t count = 0;
};

#include "text/script_tables.inc"

}  // namespace

std::optional<CodePointSet> script_set(std::string_view name) {
  const auto script =
      std::find_if(std::begin(kScripts), std::end(kScripts), [&](const Script& other) { return other.name == name; });
  if (script == std::end(kScripts)) return std::nullopt;
  const CodePointSet::Range* first = kScriptRanges + script->first;
  return CodePointSet::of({first, first + script->count});
}

}  // namespace vitro

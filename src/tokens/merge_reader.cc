#include "tokens/merge_reader.h"

#include <string>

#include "formats/quote_name.h"

namespace vitro {
namespace {

Result<MergeTable::Merge> read_merge(std::string_view line, uint32_t rank, const Vocabulary& vocabulary) {
  const size_t space = line.find(' ', 1);
  if (space == std::string_view::npos || space + 1 == line.size()) {
    return fail(ErrorCode::kCorrupt, "merge {} is {}, not two pieces", rank, quote_name(line));
  }
  const std::string_view left = line.substr(0, space);
  const std::string_view right = line.substr(space + 1);
  const std::string joined = std::string(left) + std::string(right);
  const MergeTable::Merge merge{vocabulary.find(left), vocabulary.find(right), rank, vocabulary.find(joined)};
  if (merge.left < 0 || merge.right < 0 || merge.joined < 0) {
    const std::string_view missing = merge.left < 0 ? left : merge.right < 0 ? right : std::string_view(joined);
    return fail(ErrorCode::kCorrupt, "merge {} ({}) needs the piece {}, which is not in the vocabulary", rank,
                quote_name(line), quote_name(missing));
  }
  return merge;
}

}  // namespace

Result<MergeTable> read_merge_lines(std::span<const std::string_view> lines, const Vocabulary& vocabulary) {
  if (lines.size() > kMaxVocabulary) return fail(ErrorCode::kUnsupported, "{} merges", lines.size());
  MergeTable out(lines.size());
  for (size_t i = 0; i < lines.size(); ++i) {
    VITRO_TRY_ASSIGN(const MergeTable::Merge merge, read_merge(lines[i], static_cast<uint32_t>(i), vocabulary));
    VITRO_TRY(out.add(merge));
  }
  return out;
}

}  // namespace vitro

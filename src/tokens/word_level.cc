// One look-up a word.
#include "tokens/word_level.h"

namespace vitro {

Result<std::unique_ptr<WordLevel>> WordLevel::make(const Vocabulary& vocabulary, WordLevelSpec spec) {
  return std::unique_ptr<WordLevel>(new WordLevel(vocabulary, std::move(spec)));
}

void WordLevel::encode(std::string_view text, std::span<const ByteRange> words, std::vector<TextToken>& out) const {
  for (const ByteRange& word : words) {
    const bool continues = spec_.fuses_unknown && !out.empty() && out.back().id == spec_.unknown_id;
    const TokenId id = vocabulary_->find(text.substr(word.begin, word.size()));
    const bool is_foreign =
        id >= 0 && static_cast<size_t>(id) < spec_.is_added_only.size() && spec_.is_added_only[static_cast<size_t>(id)];
    if (id >= 0 && !is_foreign && id != spec_.unknown_id) {
      out.push_back({id, word});
    } else if (continues) {
      out.back().range.end = word.end;
    } else {
      out.push_back({spec_.unknown_id, word});
    }
  }
}

}  // namespace vitro

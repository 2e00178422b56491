#include "tokens/train/save_tokenizer_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "formats/json.h"

namespace vitro {
namespace {

/// "open item,\n item close", each item on a line of its own.
template <class Items, class Write>
std::string lines_of(char open, char close, const Items& items, Write&& write) {
  std::string out(1, open);
  size_t i = 0;
  for (const auto& item : items) {
    out += i == 0 ? "\n      " : ",\n      ";
    out += write(item, i++);
  }
  out += items.empty() ? "" : "\n    ";
  return out + close;
}

std::string vocabulary_of(const std::vector<std::string>& pieces) {
  return lines_of('{', '}', pieces,
                  [](const std::string& p, size_t id) { return fmt::format("{}: {}", json_quote(p), id); });
}

/// The shortest digits that read back as the same number; always a real one.
std::string real(double x) {
  std::string out = fmt::format("{}", x);
  if (out.find_first_of(".en") == std::string::npos) out += ".0";
  return out;
}

std::string added_token(const SpecialToken& token) {
  return fmt::format(
      R"({{"id": {}, "content": {}, "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true}})",
      token.id, json_quote(token.content));
}

/// BERT's template, or null.
std::string post_processor(const std::vector<SpecialToken>& special) {
  const auto find = [&](std::string_view content) {
    return std::find_if(special.begin(), special.end(), [&](const SpecialToken& t) { return t.content == content; });
  };
  const auto cls = find("[CLS]");
  const auto sep = find("[SEP]");
  if (cls == special.end() || sep == special.end()) return "null";
  const auto token = [](std::string_view name, int type) {
    return fmt::format(R"({{"SpecialToken": {{"id": "{}", "type_id": {}}}}})", name, type);
  };
  const auto text = [](std::string_view name, int type) {
    return fmt::format(R"({{"Sequence": {{"id": "{}", "type_id": {}}}}})", name, type);
  };
  const auto entry = [](const SpecialToken& t) {
    return fmt::format(R"("{}": {{"id": "{}", "ids": [{}], "tokens": ["{}"]}})", t.content, t.content, t.id, t.content);
  };
  const std::string single = token("[CLS]", 0) + ", " + text("A", 0) + ", " + token("[SEP]", 0);
  const std::string second = text("B", 1) + ", " + token("[SEP]", 1);
  return fmt::format(
      "{{\n    \"type\": \"TemplateProcessing\",\n    \"single\": [{}],\n    \"pair\": [{}, {}],\n"
      "    \"special_tokens\": {{{}, {}}}\n  }}",
      single, single, second, entry(*cls), entry(*sep));
}

}  // namespace

std::string to_model_json(const TrainedBpe& model) {
  const auto write = [&](const std::pair<TokenId, TokenId>& merge, size_t) {
    return fmt::format("[{}, {}]", json_quote(model.pieces[static_cast<size_t>(merge.first)]),
                       json_quote(model.pieces[static_cast<size_t>(merge.second)]));
  };
  return fmt::format(
      "{{\n    \"type\": \"BPE\",\n    \"dropout\": null,\n    \"unk_token\": null,\n"
      "    \"continuing_subword_prefix\": null,\n    \"end_of_word_suffix\": null,\n    \"fuse_unk\": false,\n"
      "    \"byte_fallback\": false,\n    \"ignore_merges\": false,\n    \"vocab\": {},\n    \"merges\": {}\n  }}",
      vocabulary_of(model.pieces), lines_of('[', ']', model.merges, write));
}

std::string to_model_json(const TrainedUnigram& model) {
  const auto write = [](const ScoredPiece& piece, size_t) {
    return fmt::format("[{}, {}]", json_quote(piece.text), real(piece.score));
  };
  return fmt::format(
      "{{\n    \"type\": \"Unigram\",\n    \"unk_id\": {},\n    \"vocab\": {},\n    \"byte_fallback\": false\n  }}",
      model.unknown_id, lines_of('[', ']', model.pieces, write));
}

std::string to_model_json(const std::vector<std::string>& vocabulary, std::string_view unknown) {
  return fmt::format(
      "{{\n    \"type\": \"WordPiece\",\n    \"unk_token\": {},\n    \"continuing_subword_prefix\": \"##\",\n"
      "    \"max_input_chars_per_word\": 100,\n    \"vocab\": {}\n  }}",
      json_quote(unknown), vocabulary_of(vocabulary));
}

std::string to_tokenizer_json(const TokenizerRecipe& recipe, const std::vector<SpecialToken>& special,
                              const std::string& model) {
  const std::string added = lines_of('[', ']', special, [](const SpecialToken& t, size_t) { return added_token(t); });
  return fmt::format(
      "{{\n  \"version\": \"1.0\",\n  \"truncation\": null,\n  \"padding\": null,\n  \"added_tokens\": {},\n"
      "  \"normalizer\": {},\n  \"pre_tokenizer\": {},\n  \"post_processor\": {},\n  \"decoder\": {},\n  \"model\": "
      "{}\n}}\n",
      added, recipe.normalizer, recipe.pre_tokenizer, post_processor(special), recipe.decoder, model);
}

}  // namespace vitro

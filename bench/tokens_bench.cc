// Times a tokenizer in this process and prints one line of JSON, for bench/beside_tokenizers.py:
//   tokens_bench MODEL FILE... [--rounds N]
//   tokens_bench MODEL --adversarial
// Per file: the best seconds of N rounds to encode it whole, to encode it in documents of 2000 characters, and to
// decode its ids; the numbers of bytes and ids, and a checksum of the ids. And the best seconds to load the model.
// Adversarial: the milliseconds that long words take at three sizes, which should double with the size.
#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <functional>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "formats/json.h"
#include "text/utf8.h"
#include "tokens/tokenizer.h"

namespace {

constexpr size_t kDocumentCharacters = 2000;

/// Of the processor, not of the wall: other programs may run.
double seconds_of(const std::function<void()>& work) {
  const std::clock_t start = std::clock();
  work();
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

double best_seconds(int n_rounds, const std::function<void()>& work) {
  double best = seconds_of(work);
  for (int i = 1; i < n_rounds; ++i) best = std::min(best, seconds_of(work));
  return best;
}

/// Cut after every 2000th character, as the Python side cuts.
std::vector<std::string> documents_of(const std::string& text) {
  std::vector<std::string> out;
  size_t n_characters = 0;
  size_t begin = 0;
  for (size_t pos = 0; pos < text.size(); ++pos) {
    if ((static_cast<unsigned char>(text[pos]) & 0xC0U) == 0x80) continue;
    if (n_characters++ % kDocumentCharacters != 0 || pos == 0) continue;
    out.push_back(text.substr(begin, pos - begin));
    begin = pos;
  }
  out.push_back(text.substr(begin));
  return out;
}

/// CRC-32 of the ids as 32-bit little-endian numbers, as Python's zlib.crc32.
uint32_t checksum_of(const std::vector<vitro::TokenId>& ids) {
  uint32_t crc = UINT32_MAX;
  for (const vitro::TokenId id : ids) {
    crc ^= static_cast<uint32_t>(id);
    for (int bit = 0; bit < 32; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xEDB88320U : 0U);
  }
  return ~crc;
}

std::string measure(const vitro::Tokenizer& tokenizer, const std::string& path, int n_rounds) {
  std::ostringstream buffer;
  buffer << std::ifstream(path, std::ios::binary).rdbuf();
  const std::string text = buffer.str();
  const std::vector<std::string> documents = documents_of(text);
  vitro::Encoding encoding;
  const double in_documents = best_seconds(n_rounds, [&] {
    for (const std::string& document : documents) encoding = tokenizer.encode(document).value();
  });
  const double whole = best_seconds(n_rounds, [&] { encoding = tokenizer.encode(text).value(); });
  std::string decoded;
  const double decode = best_seconds(n_rounds, [&] { decoded = tokenizer.decode(encoding.ids, true); });
  return fmt::format(
      R"({{"file":{},"bytes":{},"ids":{},"checksum":{},"whole":{},"documents":{},"decode":{},"decoded":{}}})",
      vitro::json_quote(path), text.size(), encoding.ids.size(), checksum_of(encoding.ids), whole, in_documents, decode,
      decoded.size());
}

/// Characters that draw() gives, up to n bytes.
std::string repeated(size_t n_bytes, const std::function<char32_t(size_t)>& draw) {
  std::string out;
  for (size_t i = 0; out.size() < n_bytes; ++i) vitro::append_utf8(out, draw(i));
  return out;
}

void print_adversarial(const vitro::Tokenizer& tokenizer) {
  std::mt19937 rng(1);
  const auto among = [&](char32_t first, uint32_t n) { return first + rng() % n; };
  const std::pair<const char*, std::function<char32_t(size_t)>> inputs[] = {
      {"one letter", [](size_t) { return U'a'; }},
      {"random letters", [&](size_t) { return among(U'a', 26); }},
      {"scripts in turn", [&](size_t i) { return among(i % 3 == 0   ? U'a'
                                                       : i % 3 == 1 ? U'\u0430'
                                                                    : U'\u3042',
                                                       26); }},
      {"random Han", [&](size_t) { return among(U'\u4E00', 20000); }},
      {"letters with marks", [&](size_t i) { return i % 2 == 0 ? among(U'a', 26) : among(U'\u0300', 64); }},
      {"spaces", [](size_t) { return U' '; }},
      {"digits", [&](size_t) { return among(U'0', 10); }},
  };
  fmt::print("{:<20}{:>10}{:>10}{:>10}\n", "ms", "250 KB", "500 KB", "1 MB");
  for (const auto& [name, draw] : inputs) {
    fmt::print("{:<20}", name);
    for (const size_t n_bytes : {250'000, 500'000, 1'000'000}) {
      const std::string text = repeated(n_bytes, draw);
      fmt::print("{:>10.1f}", 1e3 * best_seconds(3, [&] { tokenizer.encode(text, {}).value(); }));
    }
    fmt::print("\n");
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> names(argv + 1, argv + argc);
  int n_rounds = 3;
  if (names.size() >= 2 && names[names.size() - 2] == "--rounds") {
    n_rounds = std::max(1, std::atoi(names.back().c_str()));
    names.resize(names.size() - 2);
  }
  if (names.empty()) {
    fmt::print(stderr, "usage: tokens_bench MODEL FILE... [--rounds N], or tokens_bench MODEL --adversarial\n");
    return 2;
  }
  auto tokenizer = vitro::load_tokenizer(names[0]);
  if (!tokenizer) {
    fmt::print(stderr, "{}\n", tokenizer.error().message);
    return 1;
  }
  if (names.size() == 2 && names[1] == "--adversarial") {
    print_adversarial(**tokenizer);
    return 0;
  }
  const double load = best_seconds(n_rounds, [&] { tokenizer = vitro::load_tokenizer(names[0]); });
  std::string files;
  for (size_t i = 1; i < names.size(); ++i) {
    files += (i > 1 ? "," : "") + measure(**tokenizer, names[i], n_rounds);
  }
  fmt::print("{{\"load\":{},\"files\":[{}]}}\n", load, files);
  return 0;
}

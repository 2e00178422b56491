// Between two places where some set's pieces begin, code points of one category are of one class. So a class is made
// when a category is met there for the first time, and pages follow the blocks of the table of categories.
#include "text/split_pattern_classes.h"

#include <algorithm>
#include <array>
#include <string>
#include <unordered_map>

namespace vitro {
namespace {

constexpr char32_t kPage = char32_t{1} << kCategoryBlockBits;
constexpr char32_t kShelf = char32_t{1} << kCategoryShelfBits;
constexpr uint16_t kNone = UINT16_MAX;

class Classifier {
 public:
  explicit Classifier(const std::vector<CodePointSet>& sets) : categories_(sets.size()) {
    for (size_t i = 0; i < sets.size(); ++i) {
      for (const CodePointSet::Piece& piece : sets[i].pieces()) changes_.push_back({piece, i});
    }
    std::sort(changes_.begin(), changes_.end(),
              [](const Change& a, const Change& b) { return a.piece.first < b.piece.first; });
    out_.members.resize(sets.size());
    forget_pages();
  }

  Result<CharacterClasses> run() {
    for (char32_t first = 0; first <= CodePointSet::kLast && !has_too_many_; first += kShelf) add_shelf(first);
    if (has_too_many_) {
      return fail(ErrorCode::kUnsupported, "[split pattern] the pattern needs more than {} classes of characters",
                  kMaxClasses);
    }
    out_.n = known_.size();
    return std::move(out_);
  }

 private:
  struct Change {
    CodePointSet::Piece piece;
    size_t set;
  };

  char32_t next_change() const { return n_past_ < changes_.size() ? changes_[n_past_].piece.first : UINT32_MAX; }

  /// Makes the pieces that begin up to here those of their sets.
  void enter(char32_t code) {
    if (next_change() > code) return;
    for (; next_change() <= code; ++n_past_) {
      categories_[changes_[n_past_].set] = changes_[n_past_].piece.categories;
    }
    forget_pages();
  }

  void forget_pages() {
    class_of_.fill(kNone);
    page_of_block_.assign(n_category_blocks(), kNone);
    shelf_at_.assign(n_category_shelves(), 0);
  }

  void add_shelf(char32_t first) {
    enter(first);
    const bool is_whole = next_change() >= first + kShelf;
    size_t& same = shelf_at_[category_shelf(first)];
    if (is_whole && same != 0) {
      const auto begin = out_.page_of.begin() + static_cast<std::ptrdiff_t>(same);
      const std::vector<uint16_t> pages(begin, begin + kShelf / kPage);
      out_.page_of.insert(out_.page_of.end(), pages.begin(), pages.end());
      return;
    }
    if (is_whole) same = out_.page_of.size();
    for (char32_t page = first; page < first + kShelf; page += kPage) add_page(page);
  }

  void add_page(char32_t first) {
    enter(first);
    const bool is_whole = next_change() >= first + kPage;
    out_.page_of.push_back(is_whole ? page_of_block(category_block(first)) : mixed_page(first));
  }

  uint8_t class_of(Category category) {
    uint16_t& value = class_of_[static_cast<size_t>(category)];
    if (value == kNone) value = find_class(bit_of(category));
    return static_cast<uint8_t>(value);
  }

  uint16_t find_class(CategoryMask category) {
    std::string is_in(categories_.size(), '\0');
    for (size_t set = 0; set < is_in.size(); ++set) is_in[set] = (categories_[set] & category) != 0 ? 1 : 0;
    const auto [place, is_new] = known_.try_emplace(is_in, static_cast<uint16_t>(known_.size()));
    if (is_new && known_.size() > kMaxClasses) {
      has_too_many_ = true;
    } else if (is_new) {
      for (size_t set = 0; set < is_in.size(); ++set) out_.members[set][place->second] = is_in[set] != 0;
    }
    return place->second;
  }

  uint16_t page_of_block(size_t block) {
    uint16_t& page = page_of_block_[block];
    if (page != kNone) return page;
    std::vector<uint8_t> found;
    for (int i = 0; i < kCategoryCount; ++i) {
      const auto category = static_cast<Category>(i);
      if ((categories_in_block(block) & bit_of(category)) != 0) found.push_back(class_of(category));
    }
    std::string classes(kPage, static_cast<char>(found[0]));
    const bool is_uniform = std::count(found.begin(), found.end(), found[0]) == std::ssize(found);
    for (size_t i = 0; i < kPage && !is_uniform; ++i) {
      classes[i] = static_cast<char>(class_of_[static_cast<size_t>(category_in_block(block, i))]);
    }
    return page = number_of(std::move(classes));
  }

  uint16_t mixed_page(char32_t first) {
    std::string classes;
    for (char32_t code = first; code < first + kPage; ++code) {
      enter(code);
      classes += static_cast<char>(class_of(category_of(code)));
    }
    return number_of(std::move(classes));
  }

  uint16_t number_of(std::string classes) {
    const auto [place, is_new] = pages_.try_emplace(std::move(classes), static_cast<uint16_t>(pages_.size()));
    if (is_new) out_.pages.insert(out_.pages.end(), place->first.begin(), place->first.end());
    return place->second;
  }

  std::vector<Change> changes_;
  size_t n_past_ = 0;
  bool has_too_many_ = false;
  CharacterClasses out_;
  std::unordered_map<std::string, uint16_t> known_;  ///< by the sets that a class belongs to
  std::unordered_map<std::string, uint16_t> pages_;
  // Of the place that was entered last.
  std::vector<CategoryMask> categories_;  ///< by set
  std::array<uint16_t, kCategoryCount> class_of_{};
  std::vector<uint16_t> page_of_block_;
  std::vector<size_t> shelf_at_;  ///< where page_of has the same shelf; 0 for none, as the first one is never met again
};

}  // namespace

Result<CharacterClasses> classify(const std::vector<CodePointSet>& sets) { return Classifier(sets).run(); }

}  // namespace vitro

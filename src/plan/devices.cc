#include "plan/devices.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "base/letters.h"
#include "base/nearest.h"
#include "base/read_file.h"
#include "formats/json.h"

// data/devices.json (cmake/embed.cmake).
extern "C" const char vitro_devices_json[], vitro_devices_json_end[];

namespace vitro {
namespace {

constexpr std::string_view kPeakNames[] = {
#define VITRO_X(name, text, doc) text,
    VITRO_PEAK_TYPES(VITRO_X)
#undef VITRO_X
};

constexpr uintmax_t kMaxFileBytes = uintmax_t{4} << 20;  ///< thousands of devices
constexpr size_t kMaxDevices = 10'000;
constexpr size_t kMaxProblems = 20;  ///< a file with more is not meant to be one
/// Above any machine, so that products of figures stay far from the limits of doubles and of 64 bits.
constexpr int64_t kMaxMemory = int64_t{1} << 50;
constexpr double kMaxRate = 1e21;
constexpr int64_t kMaxLinked = 1'000'000;
constexpr size_t kMaxName = 100, kMaxText = 400;  ///< bytes

/// A name of a file in a message: quoted, so that no terminal obeys it, and short.
std::string shown(std::string_view name) { return json_quote(name.substr(0, 60)); }

/// Reads devices from a tree; what is wrong goes into a list, with the device's name.
class Reader {
 public:
  Result<std::vector<Device>> read(const Value& root, std::string_view where) {
    check_keys(root, {"about", "sources", "devices"}, "the file");
    read_sources(root.find("sources"));
    std::vector<Device> devices = read_devices(root.find("devices"));
    check_twins(devices);
    if (problems_.empty()) return devices;
    const size_t n_shown = std::min(problems_.size(), kMaxProblems);
    const std::span<const std::string> first(problems_.data(), n_shown);
    return fail(ErrorCode::kCorrupt, "{}: {}{}", where, fmt::join(first, "; "),
                n_shown < problems_.size() ? "; and more" : "");
  }

 private:
  template <class... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    if (problems_.size() <= kMaxProblems) problems_.push_back(fmt::format(format, std::forward<Args>(args)...));
  }

  void check_keys(const Value& value, std::initializer_list<std::string_view> known, std::string_view who) {
    const Value::Object* members = value.as_object();
    if (members == nullptr) return add("{}: expected an object, found {}", who, value.kind_name());
    for (const Value::Member& member : *members) {
      if (std::find(known.begin(), known.end(), member.first) == known.end())
        add("{}: unknown key {}; known: {}", who, shown(member.first), fmt::join(known, ", "));
    }
  }

  void read_sources(const Value* sources) {
    if (sources == nullptr) return;
    const Value::Object* members = sources->as_object();
    if (members == nullptr) return add("sources: expected an object, found {}", sources->kind_name());
    for (const Value::Member& member : *members) {
      sources_[member.first] = text(&member.second, fmt::format("sources: {}", shown(member.first)));
    }
  }

  std::vector<Device> read_devices(const Value* list) {
    std::vector<Device> devices;
    const Value::Array* items = list == nullptr ? nullptr : list->as_array();
    if (items == nullptr) {
      add("devices: a list is missing");
      return devices;
    }
    if (items->size() > kMaxDevices) {
      add("devices: {} of them, at most {}", items->size(), kMaxDevices);
      return devices;
    }
    for (const Value& item : *items) {
      who_ = fmt::format("devices[{}]", devices.size());
      devices.push_back(read_device(item));
    }
    return devices;
  }

  Device read_device(const Value& item) {
    Device device;
    device.name = text(item.find("name"), "name", kMaxName);
    if (!device.name.empty()) who_ = shown(device.name);
    check_keys(
        item,
        {"name", "aliases", "title", "source", "memory", "bandwidth_gb_s", "peaks_tflops", "link", "power_w", "note"},
        who_);
    source_ = source_of(item, "");
    device.title = item.find("title") ? text(item.find("title"), "title") : device.name;
    if (const Value* note = item.find("note")) device.note = text(note, "note");
    read_aliases(item.find("aliases"), &device);
    read_memory(item.find("memory"), &device);
    device.bandwidth = figure(item.find("bandwidth_gb_s"), "bandwidth_gb_s", 1e9);
    if (!device.bandwidth.is_known()) add("{}: bandwidth_gb_s is missing", who_);
    read_peaks(item.find("peaks_tflops"), &device);
    read_link(item.find("link"), &device);
    device.board_power = figure(item.find("power_w"), "power_w", 1);
    return device;
  }

  /// Empty where it is not a line of 1 to `most` bytes: terminals would obey other characters.
  std::string text(const Value* value, std::string_view key, size_t most = kMaxText) {
    const std::string* found = value == nullptr ? nullptr : value->as_string();
    if (found != nullptr && !found->empty() && found->size() <= most && !has_control(*found)) return *found;
    add("{}: {}: expected a text that is not empty, of at most {} bytes, without control characters", who_, key, most);
    return {};
  }

  /// The text that a source's key stands for, or the text itself.
  std::string source_of(const Value& value, std::string otherwise) {
    const Value* source = value.find("source");
    return source == nullptr ? otherwise : source_text(*source);
  }
  std::string source_text(const Value& source) {
    const std::string key = text(&source, "source");
    const auto known = sources_.find(key);
    return known == sources_.end() ? key : known->second;
  }

  /// A number, or {"value": number, "source": text}; null: not known.
  Figure figure(const Value* value, std::string_view key, double unit) {
    if (value == nullptr) return {};
    const bool is_object = value->as_object() != nullptr;
    if (is_object) check_keys(*value, {"value", "source"}, fmt::format("{}: {}", who_, key));
    const std::string source = is_object ? source_of(*value, source_) : source_;
    return {number(is_object ? value->find("value") : value, key, kMaxRate / unit) * unit, source};
  }

  /// 0 where it is not a positive number up to `most`.
  double number(const Value* value, std::string_view key, double most) {
    double found = -1;
    if (value != nullptr && value->as_int()) found = static_cast<double>(*value->as_int());
    if (value != nullptr && value->as_real()) found = *value->as_real();
    if (found > 0 && found <= most) return found;
    add("{}: {}: expected a number above 0, at most {:g}, found {}", who_, key, most,
        value == nullptr ? "nothing" : to_string(*value, 40));
    return 0;
  }

  int64_t whole_number(const Value* value, std::string_view key, int64_t most) {
    const int64_t* found = value == nullptr ? nullptr : value->as_int();
    if (found != nullptr && *found > 0 && *found <= most) return *found;
    add("{}: {}: expected a whole number, 1 to {}, found {}", who_, key, most,
        value == nullptr ? "nothing" : to_string(*value, 40));
    return 0;
  }

  void read_aliases(const Value* aliases, Device* device) {
    if (aliases == nullptr) return;
    const Value::Array* items = aliases->as_array();
    if (items == nullptr) return add("{}: aliases: expected a list", who_);
    for (const Value& item : *items) device->aliases.push_back(text(&item, "aliases", kMaxName));
  }

  void read_memory(const Value* memory, Device* device) {
    if (memory == nullptr) return add("{}: memory is missing", who_);
    check_keys(*memory, {"as_sold", "bytes", "usable_bytes", "source", "usable_source"},
               fmt::format("{}: memory", who_));
    device->memory_bytes = whole_number(memory->find("bytes"), "memory: bytes", kMaxMemory);
    device->memory_source = source_of(*memory, source_);
    if (const Value* sold = memory->find("as_sold")) device->memory_as_sold = text(sold, "as_sold");
    if (const Value* usable = memory->find("usable_bytes"))
      device->usable_bytes = whole_number(usable, "memory: usable_bytes", kMaxMemory);
    if (const Value* usable = memory->find("usable_source")) device->usable_source = source_text(*usable);
    if (device->usable_bytes > device->memory_bytes) add("{}: memory: more is usable than there is", who_);
  }

  void read_peaks(const Value* peaks, Device* device) {
    if (peaks == nullptr) return;
    const Value::Object* members = peaks->as_object();
    if (members == nullptr) return add("{}: peaks_tflops: expected an object", who_);
    for (const Value::Member& member : *members) {
      const Result<PeakType> type = parse_peak_type(member.first);
      if (type)
        device->peaks[static_cast<size_t>(*type)] = figure(&member.second, member.first, 1e12);
      else
        add("{}: peaks_tflops: {}", who_, type.error().message);
    }
  }

  void read_link(const Value* link, Device* device) {
    if (link == nullptr) return;
    check_keys(*link, {"name", "gb_s", "n_devices", "source"}, fmt::format("{}: link", who_));
    device->link_name = text(link->find("name"), "link: name");
    device->link = {number(link->find("gb_s"), "link: gb_s", kMaxRate / 1e9) * 1e9, source_of(*link, source_)};
    device->n_linked = whole_number(link->find("n_devices"), "link: n_devices", kMaxLinked);
  }

  void check_twins(const std::vector<Device>& devices) {
    std::map<std::string, std::string> owners;
    for (const Device& device : devices) {
      std::vector<std::string> names = device.aliases;
      names.push_back(device.name);
      for (const std::string& name : names) {
        const auto [twin, is_new] = owners.emplace(lower_case(name), device.name);
        if (!is_new) add("the name {} occurs twice ({} and {})", shown(name), shown(twin->second), shown(device.name));
      }
    }
  }

  std::map<std::string, std::string> sources_;
  std::string who_ = "the file";
  std::string source_;
  std::vector<std::string> problems_;
};

bool has_name(const Device& device, std::string_view lower_name) {
  return lower_case(device.name) == lower_name ||
         std::any_of(device.aliases.begin(), device.aliases.end(),
                     [&](const std::string& alias) { return lower_case(alias) == lower_name; });
}

/// "did you mean ...?", or the devices that there are.
std::string advice(std::span<const Device> devices, std::string_view wanted) {
  constexpr size_t kMaxListed = 50;
  std::vector<std::string> names, all;
  for (const Device& device : devices) {
    names.push_back(device.name);
    all.push_back(device.name);
    all.insert(all.end(), device.aliases.begin(), device.aliases.end());
  }
  const std::vector<std::string> near = nearest_names(wanted, all, 5);
  if (!near.empty()) return fmt::format("did you mean {}?", fmt::join(near, " or "));
  const bool is_cut = names.size() > kMaxListed;
  names.resize(std::min(names.size(), kMaxListed));
  return fmt::format("there are {}{}", fmt::join(names, ", "), is_cut ? " and more" : "");
}

}  // namespace

std::string_view peak_type_name(PeakType type) { return kPeakNames[static_cast<size_t>(type)]; }

Result<PeakType> parse_peak_type(std::string_view name) {
  const auto* found = std::find(std::begin(kPeakNames), std::end(kPeakNames), name);
  if (found != std::end(kPeakNames)) return static_cast<PeakType>(found - std::begin(kPeakNames));
  return fail(ErrorCode::kInvalidArgument, "no type of peaks {}; known: {}", shown(name), fmt::join(kPeakNames, ", "));
}

Result<std::vector<Device>> parse_devices(std::string_view json, std::string_view where) {
  VITRO_TRY_ASSIGN(const Value root, parse_json(json, where));
  return Reader().read(root, where);
}

Result<std::vector<Device>> builtin_devices() {
  return parse_devices({vitro_devices_json, vitro_devices_json_end}, "the built-in devices");
}

Result<std::vector<Device>> load_devices(const std::string& path) {
  VITRO_TRY_ASSIGN(const std::string text, read_small_file(path, kMaxFileBytes));
  VITRO_TRY_ASSIGN(std::vector<Device> devices, parse_devices(text, path));
  VITRO_TRY_ASSIGN(std::vector<Device> builtin, builtin_devices());
  const size_t n_own = devices.size();
  for (Device& device : builtin) {
    const std::string name = lower_case(device.name);
    const std::span<const Device> own(devices.data(), n_own);
    if (std::none_of(own.begin(), own.end(), [&](const Device& d) { return has_name(d, name); }))
      devices.push_back(std::move(device));
  }
  return devices;
}

Result<const Device*> find_device(std::span<const Device> devices, std::string_view name) {
  const std::string wanted = lower_case(name.substr(0, kMaxName));
  for (const Device& device : devices) {
    if (has_name(device, wanted)) return &device;
  }
  return fail(ErrorCode::kNotFound, "no device {}; {}", shown(name), advice(devices, wanted));
}

PeakType compute_type(const Device& device, std::string_view weight_type) {
  const std::string name = lower_case(weight_type);
  const std::string own = name.starts_with("f8") ? "fp8" : name;
  const Result<PeakType> type = parse_peak_type(own);
  const bool is_widened = type && (*type == PeakType::kInt4 || *type == PeakType::kFp4);
  if (type && !is_widened && device.peak(*type).is_known()) return *type;
  for (const PeakType wide : {PeakType::kBf16, PeakType::kF16}) {
    if (device.peak(wide).is_known()) return wide;
  }
  return PeakType::kF32;
}

}  // namespace vitro

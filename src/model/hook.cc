#include "model/hook.h"

#include <array>

namespace vitro {
namespace {

constexpr auto kInfos = std::to_array<HookInfo>({
#define VITRO_X(name, text, shape, doc) {text, shape, doc},
    VITRO_HOOKS(VITRO_X)
#undef VITRO_X
});

}  // namespace

const HookInfo& hook_info(HookPoint point) { return kInfos[static_cast<size_t>(point)]; }

}  // namespace vitro

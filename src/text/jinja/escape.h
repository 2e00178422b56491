// HTML escaping as markupsafe does it.
#pragma once

#include "text/jinja/runtime.h"

namespace vitro::jinja {

/// & < > ' " as character references; what comes of marked bytes is marked.
void append_escaped(TextBuilder& out, const MarkedText& text);

}  // namespace vitro::jinja

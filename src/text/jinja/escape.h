// HTML escaping as markupsafe does it.
#pragma once

#include "text/jinja/runtime.h"

namespace vitro::jinja {

/// & < > ' " as character references; what comes of marked bytes is marked.
void append_escaped(TextBuilder& out, const MarkedText& text);

/// True for what safe and escape make.
inline bool is_markup(const Val& value) { return value.is_string() && value.as_string().is_markup; }

}  // namespace vitro::jinja

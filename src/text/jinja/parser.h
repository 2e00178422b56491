// Parser of templates: tokens to a tree, with the grammar and the messages of jinja2.
#pragma once

#include "text/jinja/ast.h"

namespace vitro::jinja {

/// Corrupt: what a template must not say. Unsupported: statements that only make sense with other templates.
Result<Body> parse_template(std::vector<Token> tokens);

}  // namespace vitro::jinja

// Program: a compiled template. Interpreter: one run of it.
#pragma once

#include <memory>
#include <string_view>

#include "text/jinja/format.h"
#include "text/jinja/runtime.h"
#include "text/jinja/scopes.h"

namespace vitro::jinja {

class Program {
 public:
  static Result<std::shared_ptr<const Program>> compile(std::string_view source);

  const Body& body() const { return body_; }
  const RootInfo& root() const { return root_; }

 private:
  Body body_;
  RootInfo root_;
};

struct Rendering {
  MarkedText text;
  std::vector<ByteRange> generated;  ///< inside {% generation %}
};

/// Runs a program. `variables` are what the template sees besides its globals. InvalidArgument: what the template
/// raised, with line and column.
Result<Rendering> run_program(const Program& program, Runtime& rt, Kwargs variables);

}  // namespace vitro::jinja

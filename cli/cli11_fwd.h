#pragma once

// Names of CLI11 for headers: whoever includes all of it pays seconds of compilation, so that only the files that
// define options do.
namespace CLI {
class App;
class Option;
class Validator;
}  // namespace CLI

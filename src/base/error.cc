#include "base/error.h"

namespace vitro {

std::string_view error_code_name(ErrorCode code) {
  switch (code) {
#define VITRO_X(name, doc) \
  case ErrorCode::name:    \
    return std::string_view(#name).substr(1);
    VITRO_ERROR_CODES(VITRO_X)
#undef VITRO_X
  }
  return "Internal";
}

}  // namespace vitro

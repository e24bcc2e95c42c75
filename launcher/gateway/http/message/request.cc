#include "launcher/gateway/http/message/request.h"

#include <array>

namespace lockstep::http {
namespace {

constexpr std::array kMethods = {Method::get,   Method::head,   Method::post,   Method::put,
                                 Method::patch, Method::remove, Method::options};

}  // namespace

std::string_view to_string(Method method) {
  switch (method) {
    case Method::get: return "GET";
    case Method::head: return "HEAD";
    case Method::post: return "POST";
    case Method::put: return "PUT";
    case Method::patch: return "PATCH";
    case Method::remove: return "DELETE";
    case Method::options: return "OPTIONS";
  }
  return "";
}

std::optional<Method> method_from(std::string_view name) {
  for (const Method method : kMethods)
    if (to_string(method) == name) return method;
  return std::nullopt;
}

bool is_safe(Method method) {
  return method == Method::get || method == Method::head || method == Method::options;
}

}  // namespace lockstep::http

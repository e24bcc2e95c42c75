#include "launcher/gateway/http/message/problem.h"

#include <nlohmann/json.hpp>

#include "launcher/gateway/http/message/status.h"

namespace lockstep::http {

int status_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument: return 400;
    case ErrorCode::not_found: return 404;
    case ErrorCode::already_exists: return 409;
    case ErrorCode::permission_denied: return 403;
    case ErrorCode::unavailable: return 503;
    case ErrorCode::deadline_exceeded: return 504;
    case ErrorCode::resource_exhausted: return 429;
    case ErrorCode::unsupported: return 422;
    case ErrorCode::conflict: return 409;
    case ErrorCode::corrupt: return 500;
    case ErrorCode::io: return 500;
    case ErrorCode::internal: return 500;
    case ErrorCode::unsatisfiable: return 422;
  }
  return 500;
}

Problem problem_of(const Error& error) {
  Problem problem;
  problem.status = status_of(error.code);
  problem.detail = error.message;
  problem.code = std::string(to_string(error.code));
  if (error.code == ErrorCode::unavailable || error.code == ErrorCode::resource_exhausted)
    problem.headers.add("retry-after", "1");
  return problem;
}

std::string problem_json(const Problem& problem) {
  nlohmann::json json = nlohmann::json::object();
  for (const auto& [name, value] : problem.members) json[name] = value;
  json["title"] = std::string(reason_phrase(problem.status));
  json["status"] = problem.status;
  if (!problem.detail.empty()) json["detail"] = problem.detail;
  if (!problem.code.empty()) json["code"] = problem.code;
  // A detail may quote what was sent, which need not be UTF-8.
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

Response problem_response(const Problem& problem) {
  Response response =
      text_response(problem.status, "application/problem+json", problem_json(problem));
  for (const Headers::Field& field : problem.headers) response.headers.add(field.name, field.value);
  return response;
}

}  // namespace lockstep::http

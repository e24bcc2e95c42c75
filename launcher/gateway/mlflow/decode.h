#pragma once
// Requests of MLflow's clients (their REST API 2.0, captured from 2.22 and 3.17) as calls. What a
// call may do is not checked here, only that it can be meant at all.

#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "launcher/gateway/http/message/request.h"
#include "launcher/gateway/http/message/target.h"
#include "launcher/gateway/mlflow/call.h"

namespace lockstep::mlflow {

// What is served, below "/api/2.0/mlflow/".
struct Endpoint {
  http::Method method;
  std::string_view path;  // "runs/log-batch"
};
const std::vector<Endpoint>& endpoints();

inline constexpr std::size_t kMaxBodyBytes = 1u << 20;  // of MLflow's batches, too

// `path`: behind "/api/2.0/mlflow/". not_found: nothing of that name is served. invalid_argument:
// the message names the field.
Result<Call> decode(http::Method method, std::string_view path, const http::Query& query,
                    std::string_view body);

}  // namespace lockstep::mlflow

// Whatever clients send to MLflow's endpoints: a call or an error that names what is wrong, and
// never more than was sent. The first byte chooses the endpoint.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "launcher/gateway/mlflow/decode.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep;
  if (size == 0) return 0;
  const auto& all = mlflow::endpoints();
  const mlflow::Endpoint& endpoint = all[data[0] % all.size()];
  const std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  const bool is_query = endpoint.method == http::Method::get;
  const auto query = http::Query::parse(is_query ? rest : std::string_view());
  if (!query) return 0;
  const auto call =
      mlflow::decode(endpoint.method, endpoint.path, *query, is_query ? std::string_view() : rest);
  if (!call && call.error().message.empty()) std::abort();
  if (const auto* log = call ? std::get_if<mlflow::Log>(&*call) : nullptr)
    if (!metrics::validate(metrics::Change(log->batch))) std::abort();
  return 0;
}

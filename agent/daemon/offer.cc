#include "agent/daemon/offer.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "common/io/file_system.h"

namespace lockstep::agent {
namespace {

constexpr std::string_view kAll = "all";

Result<Offer> load(const std::string& path) {
  const auto text = io::read_file(path, kibibytes(64));
  if (!text && text.error().code == ErrorCode::not_found) return Offer{};
  if (!text) return text.error();
  try {
    const auto json = nlohmann::json::parse(*text);
    return Offer{json.at("cpus"),    json.at("memory"),       json.at("gpus"),
                 json.at("network"), json.value("share", ""), json.value("advertise", "")};
  } catch (const nlohmann::json::exception& error) {
    return make_error(
        ErrorCode::corrupt,
        fmt::format("{}, which stores what this node offers, is damaged ({}); remove this file, "
                    "and start the agent with --cpus, --memory, --gpus, --network and --advertise "
                    "again",
                    path, error.what()));
  }
}

void change(std::string& kept, const std::optional<std::string>& flag) {
  if (flag) kept = *flag == kAll ? "" : *flag;
}

}  // namespace

Result<Offer> offer_of(const std::string& path, const OfferFlags& flags) {
  TRY_ASSIGN(Offer offer, load(path));
  change(offer.cpus, flags.cpus);
  change(offer.memory, flags.memory);
  change(offer.gpus, flags.gpus);
  change(offer.network, flags.network);
  change(offer.share, flags.share);
  change(offer.advertise, flags.advertise);
  return offer;
}

Status keep_offer(const std::string& path, const Offer& offer) {
  const nlohmann::json json = {{"cpus", offer.cpus},   {"memory", offer.memory},
                               {"gpus", offer.gpus},   {"network", offer.network},
                               {"share", offer.share}, {"advertise", offer.advertise}};
  const auto replace = nlohmann::json::error_handler_t::replace;
  return io::write_file_atomically(path, json.dump(2, ' ', false, replace) + "\n", 0600);
}

std::string describe(const Offer& offer) {
  std::string text;
  for (const auto& [flag, value] : {std::pair{"--share", &offer.share},
                                    {"--cpus", &offer.cpus},
                                    {"--memory", &offer.memory},
                                    {"--gpus", &offer.gpus},
                                    {"--network", &offer.network},
                                    {"--advertise", &offer.advertise}})
    if (!value->empty()) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", flag, *value);
  return text;
}

}  // namespace lockstep::agent

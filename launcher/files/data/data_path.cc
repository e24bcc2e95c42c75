#include "launcher/files/data/data_path.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "common/base/quoted_name.h"

namespace lockstep::spec {
namespace {

namespace fs = std::filesystem;

// The file that a folder of this type must have; "": none.
std::string_view mark_of(InputType type) {
  if (type == InputType::mltable) return "MLTable";
  if (type == InputType::mlflow_model) return "MLmodel";
  return "";
}

Result<bool> is_folder(const fs::path& path, const std::string& shown) {
  std::error_code failure;
  const fs::file_status status = fs::status(path, failure);
  if (fs::is_directory(status)) return true;
  if (fs::is_regular_file(status)) return false;
  if (fs::exists(status))
    return make_error(ErrorCode::invalid_argument, shown + " is neither a file nor a folder");
  if (failure && failure != std::errc::no_such_file_or_directory)
    return make_error(ErrorCode::io, fmt::format("cannot read {}: {}", shown, failure.message()));
  return make_error(ErrorCode::not_found, shown + " does not exist");
}

}  // namespace

bool is_web_path(std::string_view path) {
  return path.starts_with("http://") || path.starts_with("https://");
}

std::string without_credentials(std::string_view address) {
  constexpr std::string_view kMask = "***";
  const auto scheme = address.find("://");
  const auto host = scheme == std::string_view::npos ? 0 : scheme + 3;
  const auto host_end = std::min(address.find_first_of("/?#", host), address.size());
  std::string shown(address.substr(0, host));
  std::string_view authority = address.substr(host, host_end - host);
  if (const auto at = authority.rfind('@'); at != std::string_view::npos) {
    shown += kMask;
    authority.remove_prefix(at);
  }
  const auto fragment = std::min(address.find('#', host_end), address.size());
  const auto query = std::min(address.find('?', host_end), fragment);
  shown += authority;
  shown += address.substr(host_end, query - host_end);
  for (auto at = query; at < fragment;) {  // `at` is at '?', '&' or ';'
    const auto end = std::min(address.find_first_of("&;", at + 1), fragment);
    const std::string_view part = address.substr(at, end - at);
    const auto equals = part.find('=');
    shown += equals == std::string_view::npos ? part.substr(0, 1) : part.substr(0, equals + 1);
    if (equals + 1 != part.size() && part.size() > 1) shown += kMask;
    at = end;
  }
  return shown.append(address.substr(fragment));
}

bool is_cloud_path(std::string_view path) {
  static constexpr std::array kLeads = {"wasb://", "wasbs://", "abfs://", "abfss://",
                                        "adl://",  "s3://",    "gs://"};
  return std::any_of(kLeads.begin(), kLeads.end(),
                     [&](std::string_view lead) { return path.starts_with(lead); });
}

std::string without_file_scheme(std::string_view path) {
  constexpr std::string_view kFile = "file:";
  if (!path.starts_with(kFile)) return std::string(path);
  path.remove_prefix(kFile.size());
  if (path.starts_with("//")) path.remove_prefix(2);
  return std::string(path);
}

std::string absolute_path(const std::string& file, const std::string& path) {
  std::error_code failure;
  std::string whole = fs::absolute(fs::path(file).parent_path() / path, failure).lexically_normal();
  while (whole.size() > 1 && whole.back() == '/') whole.pop_back();
  return whole;
}

Status check_files(const std::string& path, InputType type, std::string& file) {
  const std::string shown = quoted_name(path);
  TRY_ASSIGN(const bool folder, is_folder(path, shown));
  const auto wrong = [&](const std::string& message) {
    return make_error(ErrorCode::invalid_argument, message);
  };
  if (folder && type == InputType::uri_file)
    return wrong(shown + " is a folder; write type: uri_folder, or name a file");
  const bool takes_file = type == InputType::uri_file || type == InputType::custom_model;
  if (!folder && !takes_file)
    return wrong(shown + " is a file; write type: uri_file, or name a folder");
  const std::string_view mark = mark_of(type);
  std::error_code failure;
  if (!mark.empty() && !fs::exists(fs::path(path) / mark, failure))
    return wrong(fmt::format("{} has no file {}, so it is no {}", shown, mark, to_string(type)));
  if (!folder) file = fs::path(path).filename().string();
  return {};
}

}  // namespace lockstep::spec

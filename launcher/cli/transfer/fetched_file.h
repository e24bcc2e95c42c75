#pragma once
// A file of the web, fetched by the system's curl into a folder of its own. The folder goes with
// the object.

#include <functional>
#include <string>
#include <utility>

#include "common/base/bytes.h"
#include "common/base/result.h"

namespace lockstep::cli {

class FetchedFile {
 public:
  using OnProgress = std::function<void(Bytes so_far)>;
  // Fetches a file. `below`: a private folder of ours, made if it is missing. `url`: http or https.
  // An error has curl's words; unavailable: there is no curl.
  static Result<FetchedFile> fetch(const std::string& url, const std::string& file_name,
                                   const std::string& below, const OnProgress& progress);
  ~FetchedFile();
  FetchedFile(FetchedFile&& other) noexcept : folder_(std::exchange(other.folder_, "")) {}
  FetchedFile& operator=(FetchedFile&&) = delete;

  const std::string& folder() const { return folder_; }

 private:
  explicit FetchedFile(std::string folder) : folder_(std::move(folder)) {}
  std::string folder_;
};

}  // namespace lockstep::cli

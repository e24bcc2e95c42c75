#include "agent/workspace/collect/write_back.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include "agent/workspace/collect/open_below.h"
#include "agent/workspace/trees/copy_tree.h"
#include "common/io/files/act_as.h"
#include "common/io/files/open_place.h"

namespace lockstep::agent {

Result<std::vector<std::string>> write_back(const io::Fd& base, const OutputSpec& output,
                                            const std::string& job, const io::User& user,
                                            const std::optional<OneOfNodes>& node,
                                            const LinkRules* rules) {
  DatastorePath place = *output.place;
  place.path = path_in_place(output, job);
  const bool is_file = output.type == OutputType::uri_file;
  std::string file;
  if (is_file) {  // the path names the file itself
    const auto slash = place.path.rfind('/');
    file = slash == std::string::npos ? place.path : place.path.substr(slash + 1);
    place.path.resize(slash == std::string::npos ? 0 : slash);
    if (file.empty()) file = output.name;
  }
  TRY_ASSIGN(const io::Fd target, io::make_place(place, user));
  TRY_ASSIGN(const io::ActAs acting, io::ActAs::begin(user));
  const std::string folder = named_output_folder(output.name);
  const Opened opened =
      rules == nullptr ? open_below(base, folder) : open_output(base, folder, *rules).opened;
  if (opened.what != Opened::What::folder) return std::vector<std::string>();
  std::optional<SharedPlace> shared;
  if (node) shared.emplace(*node);
  const Status copied = copy_over(opened.fd.get(), is_file ? output.name : "", file, target.get(),
                                  shared ? &*shared : nullptr);
  if (copied) return shared ? shared->notes() : std::vector<std::string>();
  return copied.error().within(fmt::format("datastore '{}'", place.datastore));
}

std::optional<OneOfNodes> one_of_nodes(const Assignment& assignment,
                                       const io::AttemptDir& directory) {
  if (assignment.nodes() < 2) return std::nullopt;
  struct stat staged {};  // without a staging, all files count as later
  (void)::stat(directory.workspace().c_str(), &staged);
  return OneOfNodes{assignment.node_rank,
                    {staged.st_mtim.tv_sec * 1'000'000'000LL + staged.st_mtim.tv_nsec}};
}

void add_problems(const Result<std::vector<std::string>>& written, const OutputSpec& output,
                  std::vector<std::string>& problems) {
  if (!written) {
    problems.push_back(fmt::format("it was not written to {}: {}; `lockstep job download` has it",
                                   output.path, written.error().message));
    return;
  }
  for (const std::string& note : *written)
    problems.push_back(fmt::format("in {}: {}", output.path, note));
}

}  // namespace lockstep::agent

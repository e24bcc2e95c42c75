#include "agent/workspace/write_back.h"

#include <fmt/format.h>

#include "agent/workspace/copy_tree.h"
#include "agent/workspace/open_below.h"
#include "common/io/act_as.h"
#include "common/io/open_place.h"

namespace lockstep::agent {

Status write_back(const io::Fd& base, const OutputSpec& output, const std::string& job,
                  const io::User& user) {
  DatastorePath place = *output.place;
  place.path = path_in_place(output, job);
  const bool is_file = output.type == OutputType::uri_file;
  std::string file;
  if (is_file) {  // the path is the file's own
    const auto slash = place.path.rfind('/');
    file = slash == std::string::npos ? place.path : place.path.substr(slash + 1);
    place.path.resize(slash == std::string::npos ? 0 : slash);
    if (file.empty()) file = output.name;
  }
  TRY_ASSIGN(const io::Fd target, io::make_place(place, user));
  TRY_ASSIGN(const io::ActAs acting, io::ActAs::begin(user));
  const Opened opened = open_below(base, named_output_folder(output.name));
  if (opened.what != Opened::What::folder) return {};
  const Status copied = copy_over(opened.fd.get(), is_file ? output.name : "", file, target.get());
  if (copied) return {};
  return copied.error().within(fmt::format("datastore '{}'", place.datastore));
}

}  // namespace lockstep::agent

#include "agent/workspace/stage_inputs.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>

#include "agent/workspace/act_as.h"
#include "agent/workspace/copy_tree.h"
#include "agent/workspace/put_in_place.h"
#include "common/base/quoted_name.h"
#include "common/io/beneath.h"

namespace lockstep::agent {
namespace {

// With the rights of the job's user, so that nobody learns of files by naming them.
Status check_in_place(const DataInput& input, const io::User& user) {
  TRY_ASSIGN(const ActAs acting, ActAs::begin(user));
  struct stat info {};
  const std::string shown = quoted_name(input.address);
  if (::stat(input.address.c_str(), &info) != 0)
    return make_error(
        ErrorCode::not_found,
        errno == ENOENT || errno == ENOTDIR
            ? fmt::format("{} does not exist on this node", shown)
            : errno_error(errno, fmt::format("{} cannot read {} on this node", user.name, shown))
                  .message);
  const bool is_folder = S_ISDIR(info.st_mode);
  if (input.type == InputType::uri_file && is_folder)
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("{} is a folder on this node, not a file", shown));
  if (input.type == InputType::uri_folder && !is_folder)
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("{} is a file on this node, not a folder", shown));
  return {};
}

Status put_copy(const InputParts& parts, const DataInput& input, const std::string& tree) {
  const snapshot::Owner owner{parts.user.uid, parts.user.gid};
  const std::string beside = parts.directory.input_beside();
  parts.tell(fmt::format("copying input '{}'", input.name));
  TRY_ASSIGN(const io::Folder attempt, io::Folder::open(parts.directory.path()));
  TRY(attempt.remove(beside.substr(parts.directory.path().size() + 1)));
  TRY(copy_tree(tree, beside, owner));
  return put_in_place(beside, parts.working, input_folder(input.name), owner);
}

Status stage_one(const InputParts& parts, const DataInput& input,
                 std::vector<StagedInput>& mounted) {
  if (input.mode == InputMode::direct)
    return input.is_in_place() ? check_in_place(input, parts.user) : Status();
  if (!input.tree) return make_error(ErrorCode::corrupt, "it has no tree");
  TRY_ASSIGN(std::string tree, parts.tree(*input.tree));
  if (input.mode == InputMode::download || !parts.can_mount) return put_copy(parts, input, tree);
  mounted.push_back({input.name, std::move(tree)});
  return {};
}

}  // namespace

Result<std::vector<StagedInput>> stage_inputs(const InputParts& parts) {
  std::vector<StagedInput> mounted;
  for (const DataInput& input : parts.inputs)
    if (const Status staged = stage_one(parts, input, mounted); !staged)
      return staged.error().within(fmt::format("input '{}'", input.name));
  return mounted;
}

}  // namespace lockstep::agent

#include "agent/workspace/stage_inputs.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>

#include "agent/workspace/trees/copy_tree.h"
#include "agent/workspace/trees/put_in_place.h"
#include "common/base/quoted_name.h"
#include "common/io/beneath.h"
#include "common/io/files/act_as.h"
#include "common/io/files/open_place.h"
#include "common/io/files/tree_size.h"

namespace lockstep::agent {
namespace {

// The most time for one place; files that were found by then count.
constexpr Duration kMeasureAtMost = seconds(20);

// Checks with the rights of the job's user, so that users cannot probe for files by naming them.
Status check_in_place(const DataInput& input, const io::User& user) {
  TRY_ASSIGN(const io::ActAs acting, io::ActAs::begin(user));
  struct stat info {};
  const std::string shown = quoted_name(input.address);
  if (::stat(input.address.c_str(), &info) != 0)
    return make_error(
        ErrorCode::unsatisfiable,
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

// Makes an empty folder for a copy, beside the working directory. `name`: its name in the attempt's
// directory.
Result<io::Folder> make_beside(const InputParts& parts, std::string& name) {
  const std::string& path = parts.directory.path();
  name = parts.directory.input_beside().substr(path.size() + 1);
  TRY_ASSIGN(io::Folder attempt, io::Folder::open(path));
  TRY(attempt.remove(name));
  return attempt;
}

Status put_copy(const InputParts& parts, const DataInput& input, const std::string& tree) {
  const snapshot::Owner owner{parts.user.uid, parts.user.gid};
  parts.tell(fmt::format("copying input '{}'", input.name));
  std::string name;
  TRY_ASSIGN(const io::Folder attempt, make_beside(parts, name));
  TRY(parts.admit_copy(tree));
  TRY(copy_tree(tree, parts.directory.input_beside(), owner));
  return put_in_place(parts.directory.input_beside(), parts.working, input_folder(input.name),
                      owner);
}

// ---- a datastore's directory --------------------------------------------------------------------

Status check_type(const DataInput& input, bool is_folder) {
  const std::string shown = quoted_name(input.place->whole());
  if (input.type == InputType::uri_file && is_folder)
    return make_error(ErrorCode::invalid_argument,
                      shown + " is a folder on this node; write type: uri_folder");
  if (input.type != InputType::uri_file && !is_folder)
    return make_error(ErrorCode::invalid_argument,
                      shown + " is a file on this node; write type: uri_file");
  return {};
}

// Measures with the rights of the job's user. What cannot be measured counts as nothing; copying it
// reports the reason.
Result<Bytes> size_of(const InputParts& parts, const DataInput& input,
                      const io::OpenedPlace& opened) {
  TRY_ASSIGN(const io::ActAs acting, io::ActAs::begin(parts.user));
  if (opened.is_folder) {
    const auto size = io::measure_tree(input.place->whole(), {}, kMeasureAtMost);
    return size ? size->bytes : Bytes{};
  }
  struct stat info {};
  if (::fstat(opened.fd.get(), &info) != 0) return Bytes{};
  return Bytes{static_cast<std::uint64_t>(info.st_blocks) * 512};
}

// Copies with the rights of the job's user, who owns the copy.
Status copy_place(const InputParts& parts, const DataInput& input, const io::OpenedPlace& opened) {
  const snapshot::Owner owner{parts.user.uid, parts.user.gid};
  parts.tell(fmt::format("copying input '{}'", input.name));
  std::string name;
  TRY_ASSIGN(const io::Folder attempt, make_beside(parts, name));
  TRY_ASSIGN(const Bytes size, size_of(parts, input, opened));
  TRY(parts.admit(size));
  TRY_ASSIGN(const io::Folder beside, attempt.make_for(name, {owner.uid, owner.gid}, 0700));
  {
    TRY_ASSIGN(const io::ActAs acting, io::ActAs::begin(parts.user));
    TRY(copy_opened(opened, quoted_name(input.place->whole()), input.file, beside.fd()));
  }
  return put_in_place(parts.directory.input_beside(), parts.working, input_folder(input.name),
                      owner);
}

Status stage_place(const InputParts& parts, const DataInput& input, MountedInputs& mounted) {
  const bool is_writable = input.mode == InputMode::rw_mount;
  TRY_ASSIGN(const io::OpenedPlace opened, io::open_place(*input.place, parts.user, is_writable));
  TRY(check_type(input, opened.is_folder));
  if (input.mode == InputMode::direct && parts.in_container)
    return make_error(ErrorCode::unsupported,
                      "a container does not see paths of its node; write mode: ro_mount, rw_mount "
                      "or download");
  if (input.mode == InputMode::direct) return {};
  if (is_writable && !parts.can_mount)
    return make_error(ErrorCode::unavailable,  // another node may be able to
                      "this node cannot mount folders for jobs (no user namespaces); write mode: "
                      "direct or download");
  if (input.mode == InputMode::download || !parts.can_mount)
    return copy_place(parts, input, opened);
  mounted.placed.push_back({input.name, *input.place, is_writable, input.file});
  return {};
}

// The error of staging, without the hope for another try: a path that is missing in a datastore
// stays missing on this node.
Status without_outages(Status staged) {
  if (staged) return staged;
  Error error = std::move(staged).error();
  if (error.code == ErrorCode::unsupported) error.code = ErrorCode::invalid_argument;
  if (error.code == ErrorCode::not_found || error.code == ErrorCode::permission_denied)
    error.code = ErrorCode::unsatisfiable;
  return error;
}

Status stage_one(const InputParts& parts, const DataInput& input, MountedInputs& mounted) {
  if (input.place) return without_outages(stage_place(parts, input, mounted));
  if (input.mode == InputMode::direct)
    return input.is_in_place() ? check_in_place(input, parts.user) : Status();
  if (!input.tree) return make_error(ErrorCode::corrupt, "it has no tree");
  TRY_ASSIGN(std::string tree, parts.tree(*input.tree));
  if (input.mode == InputMode::download || !parts.can_mount) return put_copy(parts, input, tree);
  mounted.trees.push_back({input.name, std::move(tree)});
  return {};
}

}  // namespace

Result<MountedInputs> stage_inputs(const InputParts& parts) {
  MountedInputs mounted;
  for (const DataInput& input : parts.inputs)
    if (const Status staged = stage_one(parts, input, mounted); !staged)
      return staged.error().within(fmt::format("input '{}'", input.name));
  return mounted;
}

}  // namespace lockstep::agent

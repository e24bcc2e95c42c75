#include "agent/workspace/trees/put_in_place.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/io/beneath.h"
#include "common/io/files/act_as.h"

namespace lockstep::agent {
namespace {

// Removes the old entry with the owner's rights, so that an entry the owner may not remove stays.
Status remove_old(const io::Folder& folder, const std::string& name, const snapshot::Owner& owner) {
  io::User user;
  user.name = fmt::format("uid {}", owner.uid);
  user.uid = owner.uid;
  user.gid = owner.gid;
  user.groups = {owner.gid};
  TRY_ASSIGN(const io::ActAs acting, io::ActAs::begin(user));
  return folder.remove(name);
}

}  // namespace

Status put_in_place(const std::string& beside, const std::string& working,
                    const std::string& folder, const snapshot::Owner& owner) {
  TRY_ASSIGN(io::Folder at, io::Folder::open(working));
  std::size_t from = 0;
  for (auto slash = folder.find('/'); slash != std::string::npos; slash = folder.find('/', from)) {
    TRY_ASSIGN(at, at.make_for(folder.substr(from, slash - from), {owner.uid, owner.gid}, 0755));
    from = slash + 1;
  }
  const std::string name = folder.substr(from);
  TRY(remove_old(at, name, owner));
  const auto slash = beside.rfind('/');
  TRY_ASSIGN(const io::Folder parent, io::Folder::open(beside.substr(0, slash)));
  return parent.move(beside.substr(slash + 1), at, name);
}

}  // namespace lockstep::agent

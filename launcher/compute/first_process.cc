#include "launcher/compute/first_process.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <vector>

#include "common/base/digest.h"
#include "common/io/file_system.h"
#include "common/io/process.h"

namespace lockstep::compute {

namespace {

// Reads $accounts, and counts in $added. If another name in the container has the uid, the account
// is left out: its jobs then fail instead of running as the other account.
constexpr const char* kAddAccounts = R"sh(
added=0
while IFS=: read -r name uid gid; do
  [ -n "$name" ] || continue
  known='' holder='' unended=''
  while IFS=: read -r other password id rest || { [ -n "$other" ] && unended=1; }; do
    [ "$other" != "$name" ] || known=1
    [ "$id" -eq "$uid" ] && holder=$other
  done < /etc/passwd
  [ -z "$known" ] || continue
  if [ -n "$holder" ]; then
    echo "lockstep: the account $name is not added: its uid $uid is $holder's in this container;" \
      "change one of the two uids, in the image or on the launcher's machine" >&3
    continue
  fi
  [ -z "$unended" ] || echo >> /etc/passwd
  printf '%s:x:%s:%s::/home/%s:/bin/sh\n' "$name" "$uid" "$gid" "$name" >> /etc/passwd
  printf '%s:x:%s:\n' "$name" "$gid" >> /etc/group
  mkdir -p "/home/$name" && chown "$uid:$gid" "/home/$name"
  added=$((added + 1))
done 3>&2 2>/dev/null <<ACCOUNTS
$accounts
ACCOUNTS
)sh";

constexpr const char* kEndAgent = R"sh(
echo "$added"
[ "$added" -gt 0 ] || exit 0
{ read -r agent rest < "$home/agent.pid"; } 2>/dev/null && kill -9 "$agent" 2>/dev/null
exit 0
)sh";

constexpr const char* kWords = R"sh(
home=$1 agent=$2 accounts=$3
shift 3
)sh";

constexpr const char* kKeepAgent = R"sh(
child='' stop='' token=''
trap 'stop=1; [ -z "$child" ] || kill "$child" 2>/dev/null' TERM INT HUP
if [ ! -f "$home/identity.json" ]; then
  IFS= read -r token
  [ -n "$token" ] || { echo "lockstep-agent: this node has no identity and got no token" >&2; exit 3; }
fi
while [ -z "$stop" ]; do
  if [ -n "$token" ]; then
    printf '%s\n' "$token" | "$agent" --token-file - "$@" &
  else
    "$agent" "$@" < /dev/null &
  fi
  child=$! token=''
  wait "$child"
  code=$?
  while kill -0 "$child" 2>/dev/null; do wait "$child"; code=$?; done
  child=''
  case $code in 0|2) exit "$code" ;; esac
  [ -f "$home/identity.json" ] || exit "$code"
  [ -z "$stop" ] || break
  sleep 5 &
  child=$!
  wait "$child"
  child=''
done
)sh";

struct Account {
  std::string name;
  unsigned uid = 0, gid = 0;
};

// Accounts in /etc/passwd. Accounts of other directories (LDAP) are looked up by name.
std::vector<Account> accounts_here() {
  constexpr std::size_t kMost = 10'000;
  std::vector<Account> accounts;
  const auto text = io::read_file("/etc/passwd").value_or("");
  for (std::size_t at = 0; at < text.size() && accounts.size() < kMost;) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    at = end + 1;
    char name[65] = "";
    unsigned uid = 0, gid = 0;
    if (std::sscanf(line.c_str(), "%64[a-zA-Z0-9._-]:%*[^:]:%u:%u", name, &uid, &gid) == 3)
      accounts.push_back({name, uid, gid});
  }
  return accounts;
}

// Ids for names that this machine does not know. The target's directory stores them, because files
// of jobs belong to ids: a name keeps its id, and no other name ever gets it, even after the user
// was removed.
class MadeIds {
 public:
  // The range of ids, above the ids of most people, and below those that an engine without root can
  // map.
  static constexpr unsigned kFirst = 20'000, kCount = 39'000;

  explicit MadeIds(std::string path) : path_(std::move(path)) {
    // If the directory cannot be written, ids are computed from the names alone.
    if (auto lock = io::FileLock::acquire(path_ + ".lock")) lock_ = *std::move(lock);
    std::istringstream lines(io::read_regular_file(path_, mebibytes(4)).value_or(""));
    for (std::string line; std::getline(lines, line);) {
      const auto colon = line.find(':');
      if (colon == line.npos) continue;
      const char* end = line.data() + line.size();
      unsigned id = 0;
      const auto read = std::from_chars(line.data() + colon + 1, end, id);
      if (read.ec == std::errc() && read.ptr == end && is_made(id))
        ids_[line.substr(0, colon)] = id;
    }
    for (const auto& [name, id] : ids_) taken_.insert(id);
  }
  // Marks the id of an account on this machine, so that no other name gets it.
  void reserve(unsigned id) {
    real_.insert(id);
    taken_.insert(id);
  }
  unsigned of(const std::string& name) {
    const auto known = ids_.find(name);
    if (known != ids_.end() && real_.count(known->second) == 0) return known->second;
    const auto number = std::stoul(sha256(name).hex().substr(0, 7), nullptr, 16);
    unsigned id = kFirst + static_cast<unsigned>(number % kCount);
    // If all ids are taken, the container leaves one of the two names out.
    for (unsigned tries = 0; tries < kCount && !taken_.insert(id).second; ++tries)
      id = kFirst + (id + 1 - kFirst) % kCount;
    ids_[name] = id;
    is_changed_ = true;
    return id;
  }
  void keep() const {
    if (!is_changed_ || !lock_) return;
    std::string text;
    for (const auto& [name, id] : ids_) text += fmt::format("{}:{}\n", name, id);
    (void)io::write_file_atomically(path_, text, 0600);
  }

 private:
  static bool is_made(unsigned id) { return id >= kFirst && id - kFirst < kCount; }

  const std::string path_;
  std::optional<io::FileLock> lock_;
  std::map<std::string, unsigned> ids_;
  std::set<unsigned> real_, taken_;
  bool is_changed_ = false;
};

std::vector<Account> with_ids(const std::vector<std::string>& names, MadeIds& ids) {
  std::vector<Account> accounts;
  std::vector<std::string> unknown;
  for (const Account& account : accounts_here()) ids.reserve(account.uid);
  for (const std::string& name : names) {
    if (name == "root") continue;
    const auto known = io::find_user(name);
    if (known) {
      accounts.push_back({name, known->uid, known->gid});
      ids.reserve(known->uid);
    } else {
      unknown.push_back(name);
    }
  }
  for (const std::string& name : unknown) {
    const unsigned id = ids.of(name);
    accounts.push_back({name, id, id});
  }
  return accounts;
}

}  // namespace

std::string accounts_for(const Request& request) {
  constexpr std::size_t kMostBytes = 100u << 10;  // Linux allows arguments of 128 KiB
  MadeIds ids(request.state + "/accounts");
  std::vector<Account> accounts = with_ids(request.accounts, ids);
  ids.keep();
  // A launcher that is not root runs its own user's jobs as that user.
  const auto own = io::current_user();
  if (own && own->uid != 0) accounts.push_back({own->name, own->uid, own->gid});
  std::string lines;
  for (const Account& account : accounts)
    lines += fmt::format("{}:{}:{}\n", account.name, account.uid, account.gid);
  if (lines.size() > kMostBytes) lines.resize(lines.rfind('\n', kMostBytes) + 1);
  return lines;
}

std::string first_process() { return std::string(kWords) + kAddAccounts + kKeepAgent; }

std::string add_accounts_script() {
  return std::string("accounts=$0 home=$1") + kAddAccounts + kEndAgent;
}

}  // namespace lockstep::compute

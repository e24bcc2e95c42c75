#include "launcher/compute/first_process.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <set>
#include <vector>

#include "common/base/digest.h"
#include "common/io/file_system.h"
#include "common/io/process.h"

namespace lockstep::compute {

namespace {

// From $accounts; counts in $added. An account whose uid another name has in the container is left
// out, so that its jobs fail instead of running as the other one.
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

std::vector<Account> accounts_of_people() {
  constexpr unsigned kFirst = 1'000, kLast = 59'999;  // as Debian gives them to people
  constexpr std::size_t kMost = 1'000;
  std::vector<Account> accounts;
  const bool is_root = ::geteuid() == 0;
  const auto text = io::read_file("/etc/passwd").value_or("");
  for (std::size_t at = 0; at < text.size() && accounts.size() < kMost;) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    at = end + 1;
    char name[65] = "";
    unsigned uid = 0, gid = 0;
    if (std::sscanf(line.c_str(), "%64[a-zA-Z0-9._-]:%*[^:]:%u:%u", name, &uid, &gid) != 3)
      continue;
    if (is_root ? uid < kFirst || uid > kLast : uid != ::geteuid()) continue;
    accounts.push_back({name, uid, gid});
  }
  return accounts;
}

std::vector<Account> with_ids(const std::vector<std::string>& names,
                              const std::vector<Account>& people) {
  // Beyond most people's, and below what an engine without root may give.
  constexpr unsigned kFirstMade = 20'000, kMade = 39'000;
  std::vector<Account> accounts;
  std::set<unsigned> taken;
  for (const Account& person : people) taken.insert(person.uid);
  std::vector<std::string> unknown;
  for (const std::string& name : names) {
    if (name == "root") continue;
    const auto known = io::find_user(name);
    if (known) {
      accounts.push_back({name, known->uid, known->gid});
      taken.insert(known->uid);
    } else {
      unknown.push_back(name);
    }
  }
  for (const std::string& name : unknown) {
    const auto number = std::stoul(sha256(name).hex().substr(0, 7), nullptr, 16);
    unsigned id = kFirstMade + static_cast<unsigned>(number % kMade);
    while (!taken.insert(id).second) id = kFirstMade + (id + 1 - kFirstMade) % kMade;
    accounts.push_back({name, id, id});
  }
  return accounts;
}

}  // namespace

std::string accounts_for(const Request& request) {
  constexpr std::size_t kMostBytes = 100u << 10;  // Linux takes words of 128 KiB
  const std::vector<Account> people = accounts_of_people();
  std::vector<Account> accounts = with_ids(request.accounts, people);
  accounts.insert(accounts.end(), people.begin(), people.end());  // the first of a name counts
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

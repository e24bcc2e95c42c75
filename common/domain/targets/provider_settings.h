#pragma once
// The sources of nodes, and the settings of providers that are named by words: which keys each node
// source has, and which values each key may have. A value is a list of words; most keys take
// exactly one.

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/base/word.h"

namespace lockstep {

// The source of a target's nodes.
enum class NodeSource {
  none,        // a target of type local has no nodes of its own
  join,        // people start agents with a token of the target
  ssh,         // the launcher's provider attaches hosts over ssh
  docker,      // each machine is a container on the launcher's machine
  slurm,       // each machine is a job of one node in a Slurm cluster
  command,     // a program of the site makes machines
  kubernetes,  // each machine is a pod
};
// The word in files and tables: "ssh"; "" for none.
Word describe(NodeSource source);
std::string_view to_string(NodeSource source);
constexpr NodeSource last_enumerator(NodeSource) { return NodeSource::kubernetes; }

using ProviderSettings = std::map<std::string, std::vector<std::string>>;

struct SettingKey {
  enum class Kind {
    word,    // one text
    number,  // one number above 0, such as 1.5
    bytes,   // one size, such as 2g
    path,    // one absolute path
    name,    // one name of a file, without a folder
    words,   // any number of texts
    pairs,   // any number of KEY=VALUE; a mapping in files
    flag,    // true or false
  };
  std::string_view name;
  Kind kind = Kind::word;
  bool is_required = false;
};
inline constexpr std::size_t kMaxSettings = 64;
inline constexpr std::size_t kMaxSettingWords = 256;
inline constexpr std::size_t kMaxSettingBytes = 1'024;  // the longest word of a value

// "", or I/N with 1 <= I <= N: the I-th of N equal parts of a machine.
bool is_machine_share(const std::string& text);

// The keys of a source; empty: the source has no settings in this form. For source command, the
// list has the keys that Lockstep knows; any other key is passed to the program as texts.
std::span<const SettingKey> setting_keys(NodeSource source);
// Checks one setting alone. Returns invalid_argument with the key's name.
Status check_setting(NodeSource source, const std::string& name,
                     const std::vector<std::string>& words);
// Checks all settings of a target, and that the needed ones are there.
Status check_settings(NodeSource source, const ProviderSettings& settings);

}  // namespace lockstep

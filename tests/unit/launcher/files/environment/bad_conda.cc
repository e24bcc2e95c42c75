#include <fmt/format.h>

#include "tests/unit/launcher/files/environment/bad_environments.h"

namespace lockstep::spec {

namespace {

constexpr ErrorCode kNotYet = ErrorCode::unsupported;
constexpr ErrorCode kNotFound = ErrorCode::not_found;
constexpr ErrorCode kWrong = ErrorCode::invalid_argument;

const std::string kMd5(32, 'a');
const std::string kSha256(64, 'b');

// An environment.yml of one dependency.
std::string with(const std::string& dependency) {
  return "channels: [conda-forge]\ndependencies:\n- python\n- " + dependency + "\n";
}

// What is said of an address with one of them.
std::string query(std::string_view what, char mark, std::string_view encoded) {
  return fmt::format(
      "an address has a {} ('{}…'), which nodes do not send, and which everybody who may see the "
      "environment could read; leave it out (in a folder's name write {})",
      what, mark, encoded);
}

// A lock of conda-lock with one package, whose lines begin in line 5.
std::string lock(const std::string& package) {
  return "version: 1\nmetadata: {}\npackage:\n- name: zlib\n" + package;
}

std::vector<BadEnvironment> keys() {
  return {
      {"unknown_key", "channels: [a]\ndependancies: [python]\n",
       "env.yml:2:1: unknown key 'dependancies'; did you mean 'dependencies'?"},
      {"key_of_an_environment_file", "dependencies: [python]\nversion: 3\n",
       "env.yml:2:1: 'version' is a key of an environment file, but this is a conda file; in an "
       "environment file, put channels and dependencies under 'conda_file'"},
      {"duplicate_key", "dependencies: [a]\r\ndependencies: [b]\r\n",
       "env.yml:2:1: duplicate key 'dependencies'; it was first given on line 1"},
      {"name_with_a_slash", "name: a/b\ndependencies: [python]\n",
       "env.yml:1:7: name: 'a/b' is not valid; write 1 to 240 letters, digits, '_', '-' or '.', "
       "starting with a letter or a digit"},
      {"name_as_list", "name: [a]\ndependencies: [python]\n",
       "env.yml:1:7: 'name' must be a string, not a list"},
      {"channels_as_text", "channels: conda-forge\ndependencies: [python]\n",
       "env.yml:1:11: 'channels' must be a list, not a value; write [conda-forge]"},
      {"channel_as_mapping", "channels:\n- url: x\ndependencies: [python]\n",
       "env.yml:2:3: 'channels' must be a list of strings; this item is a mapping"},
      {"empty_channel", "channels: ['']\ndependencies: [python]\n",
       "env.yml:1:12: 'channels' must be a list of strings; this item is an empty string"},
      {"channel_with_a_blank", "channels: [conda forge]\ndependencies: [python]\n",
       "env.yml:1:12: 'channels': 'conda forge' is not the name or address of a channel"},
      {"channel_with_a_blank_in_its_path", "channels: [/srv/my c]\ndependencies: [python]\n",
       "env.yml:1:12: 'channels': 'file:///srv/my c' contains a blank or another character that "
       "must be percent-encoded in an address; write file:///srv/my%20c"},
      {"channel_with_another_letter", "channels: ['https://h/ü']\ndependencies: [python]\n",
       "env.yml:1:12: 'channels': 'https://h/ü' contains a blank or another character that must be "
       "percent-encoded in an address; write https://h/%C3%BC"},
      {"channel_of_ftp", "channels:\n- a\n- ftp://h/x\ndependencies: [python]\n",
       "env.yml:3:3: 'channels': 'ftp://h/x' has the scheme 'ftp'; nodes fetch only from http, "
       "https and file"},
      {"channel_without_a_host", "channels: ['http://']\ndependencies: [python]\n",
       "env.yml:1:12: 'channels': 'http://' names no host"},
      {"channel_with_a_port", "channels: ['http://h:99999/c']\ndependencies: [python]\n",
       "env.yml:1:12: 'channels': 'http://h:99999/c' needs a port from 1 to 65535 instead of "
       "':99999'"},
      {"channel_with_two_slashes", "channels: ['file://tmp/c']\ndependencies: [python]\n",
       "env.yml:1:12: 'channels': 'file://tmp/c' names no absolute path; write three slashes: "
       "file:///PATH"},
      {"channel_of_this_machine", "channels:\n- ./mine\ndependencies: [python]\n",
       "env.yml:2:3: 'channels': './mine' is a folder of this machine, which may not exist on the "
       "nodes; write file:///PATH of a folder that exists on all nodes, or an address"},
      {"channel_with_a_token",
       "channels: ['https://conda.example/t/secret/mine']\ndependencies: [python]\n",
       "env.yml:1:12: 'channels': an address holds a token, which everybody who may look at the "
       "environment would see; name a mirror that needs none"},
      {"channel_with_a_query", "channels: ['http://h/c?token=secret']\ndependencies: [python]\n",
       "env.yml:1:12: 'channels': " + query("query", '?', "%3F")},
      {"channel_with_a_blank_in_its_query",
       "channels: ['http://[::1]:80/c?token=a secret']\ndependencies: [python]\n",
       "env.yml:1:12: 'channels': " + query("query", '?', "%3F")},
      {"channel_with_a_fragment", "channels: ['/srv/c#secret']\ndependencies: [python]\n",
       "env.yml:1:12: 'channels': " + query("fragment", '#', "%23")},
      {"only_nodefaults", "channels: [nodefaults]\ndependencies: [python]\n",
       "env.yml:1:1: 'channels' names no channel; write [conda-forge], or leave it out for conda's "
       "defaults"},
      {"flexible", "channel_priority: flexible\ndependencies: [python]\n",
       "env.yml:1:19: 'channel_priority': 'flexible' is not supported; write strict (take a "
       "package from the first channel that has it) or disabled (take its newest version from any "
       "channel)",
       kNotYet},
      {"unknown_priority", "channel_priority: high\ndependencies: [python]\n",
       "env.yml:1:19: 'channel_priority' must be strict or disabled"},
      {"other_platforms", "platforms: [osx-64, win-64]\ndependencies: [python]\n",
       "env.yml:1:12: 'platforms' must contain linux-64 or linux-aarch64, the platforms of nodes",
       kNotYet},
      {"long_dependency", "dependencies:\n- " + std::string(70'000, 'a') + "\n",
       "env.yml:2:3: 'dependencies': this item has 70000 bytes; at most 65536 are allowed"},
      {"long_requirement",
       "dependencies: [python, pip: [-r r.txt]]\n",
       "r.txt:2: the line has 70000 bytes; at most 65536 are allowed",
       kWrong,
       {{"r.txt", "six\n" + std::string(70'000, 'a') + "\n"}}},
      {"variables_as_list", "dependencies: [python]\nvariables: [A=b]\n",
       "env.yml:2:12: 'variables' must be a mapping of names to values, not a list"},
      {"variable_without_a_value", "dependencies: [python]\nvariables:\n  A:\n",
       "env.yml:3:3: 'variables.A' has no value; write \"\" for an empty one"},
      {"variable_as_list", "dependencies: [python]\nvariables:\n  A: [b]\n",
       "env.yml:3:6: 'variables.A' must be a string, not a list"},
      {"variables_name", "dependencies: [python]\nvariables:\n  A=b: c\n",
       "env.yml:3:3: 'A=b' is not a variable's name"},
  };
}

std::vector<BadEnvironment> dependencies() {
  return {
      {"no_dependencies", "channels: [a]\n",
       "env.yml:1:1: 'dependencies' names no package; write "
       "[python=3.11, numpy]"},
      {"empty_dependencies", "channels: [a]\ndependencies:\n",
       "env.yml:2:1: 'dependencies' names no package; write [python=3.11, numpy]"},
      {"dependencies_as_text", "dependencies: python\n",
       "env.yml:1:15: 'dependencies' must be a list, not a value; write [python=3.11, numpy]"},
      {"mapping_for_a_version", with("numpy: 1.26"),
       "env.yml:4:3: 'dependencies' must contain strings and at most one section 'pip'; write "
       "numpy=1.26"},
      {"other_manager", with("npm: [left-pad]"),
       "env.yml:4:3: 'dependencies' must contain strings and at most one section 'pip'; this item "
       "is another mapping"},
      {"operator", with("'numpy=>1.26'"),
       "env.yml:4:3: 'numpy=>1.26': '=>' is not an operator; write >="},
      {"three_equals", with("'numpy===1.26'"),
       "env.yml:4:3: 'numpy===1.26': '===' is not an operator; the operators are = == != >= <= > < "
       "~="},
      {"no_version", with("'numpy>='"), "env.yml:4:3: 'numpy>=': no version follows '>='"},
      {"half_a_range", with("'numpy>=1,'"),
       "env.yml:4:3: 'numpy>=1,': a version is missing next to ',' or '|'"},
      {"strange_version", with("numpy=1:2"),
       "env.yml:4:3: 'numpy=1:2': '1:2' is not a version; write, for example, 1.26 or >=1.22,<2"},
      {"two_lines", "channels: [a]\ndependencies:\n- \"numpy[license='a\\nb']\"\n",
       "env.yml:3:1: dependencies: 'numpy[license='a\nb']' is not one line"},
      {"strange_name", with("'num*'"),
       "env.yml:4:3: 'num*': 'num*' is not a valid package name; use letters, digits, '_', '-' and "
       "'.'"},
      {"no_name", with("'>=1'"), "env.yml:4:3: '>=1': names no package"},
      {"no_channel", with("'::numpy'"),
       "env.yml:4:3: '::numpy': has no channel name before '::'; write CHANNEL::NAME"},
      {"editable_install", with("'-e .'"),
       "env.yml:4:3: '-e .': is an option, but conda packages take no options; options of pip "
       "belong in the section 'pip'"},
      {"long_number", with("zlib 99999999999999999999999"),
       "env.yml:4:3: 'zlib 99999999999999999999999': '99999999999999999999999' is not a valid "
       "version: each number may have at most 18 digits"},
      {"bad_sha256", with("'zlib[sha256=abc]'"),
       "env.yml:4:3: 'zlib[sha256=abc]': 'abc' is not a valid sha256: exactly 64 hexadecimal "
       "digits are expected"},
      {"bad_md5", with("'zlib[md5=" + std::string(32, 'g') + "]'"),
       "env.yml:4:3: 'zlib[md5=" + std::string(32, 'g') + "]': '" + std::string(32, 'g') +
           "' is not a valid md5: exactly 32 hexadecimal digits are expected"},
      {"subdir", with("'zlib[subdir=osx-64]'"),
       "env.yml:4:3: 'zlib[subdir=osx-64]': 'subdir' is not supported: each node installs the "
       "packages of its own platform; leave 'subdir' out"},
      {"subdir_of_the_channel", with("conda-forge/osx-64::zlib"),
       "env.yml:4:3: 'conda-forge/osx-64::zlib': packages for platform 'osx-64' do not run on "
       "Linux nodes; leave the platform out"},
      {"address_of_ftp", with("ftp://h/c::zlib"),
       "env.yml:4:3: 'ftp://h/c::zlib': 'ftp://h/c' has the scheme 'ftp'; nodes fetch only from "
       "http, https and file"},
      {"channel_in_brackets", with("'zlib[channel=\"s3://b/c\"]'"),
       "env.yml:4:3: 'zlib[channel=\"s3://b/c\"]': 's3://b/c' has the scheme 's3'; nodes fetch "
       "only from http, https and file"},
      {"password_in_a_dependency", with("https://me:secret@h/c::zlib"),
       "env.yml:4:3: an address holds a password, which everybody who may look at the environment "
       "would see; name a mirror that needs none"},
      {"query_in_a_dependency", with("'http://h/c?token=secret::zlib'"),
       "env.yml:4:3: " + query("query", '?', "%3F")},
      {"fragment_in_brackets", with("\"zlib[channel='http://h/c#secret']\""),
       "env.yml:4:3: " + query("fragment", '#', "%23")},
      {"open_bracket", with("'numpy[version=1'"),
       "env.yml:4:3: 'numpy[version=1': has a '[' but does not end with ']'"},
      {"key_in_brackets", with("\"numpy[versoin='1']\""),
       "env.yml:4:3: 'numpy[versoin='1']': 'versoin' is not a key of a match spec; did you mean "
       "'version'?"},
      {"quote_in_brackets", with("\"numpy[version='1]\""),
       "env.yml:4:3: 'numpy[version='1]': a quote is never closed"},
      {"archive", with("https://host/linux-64/zlib-1.3.1-0.conda"),
       "env.yml:4:3: 'https://host/linux-64/zlib-1.3.1-0.conda': is the location of a package "
       "file, but a solver selects packages by name; write NAME=VERSION=BUILD, or put the "
       "package's address into a lock file that begins with @EXPLICIT"},
      {"pip_as_text", with("pip: six"),
       "env.yml:4:8: 'dependencies.pip' must be a list, not a value; write [six==1.16.0]"},
      {"two_pips", with("pip: [six]\n- pip: [numpy]"),
       "env.yml:5:3: this is a second section 'pip'; put all of pip's packages into one section"},
      {"pip_without_python", "dependencies:\n- pip: [six]\n",
       "env.yml:1:1: 'dependencies' names no package; pip needs a Python: write python=3.11 before "
       "'pip'"},
      {"path_for_pip", with("pip: [./mine]"),
       "env.yml:4:9: './mine': is a path, which may not exist on the nodes; put the package below "
       "`code` and install it in the command, or give its address"},
      {"missing_file_of_pip", with("pip:\n  - -r r.txt"), "env.yml:5:5: there is no r.txt",
       kNotFound},
      {"wrong_file_of_pip",
       with("pip: [-r r.txt]"),
       "r.txt:2: '--user': unknown option; the known options are -r, -c, --index-url, "
       "--extra-index-url, --no-index, --find-links, --no-binary, --only-binary, --prefer-binary, "
       "--pre and --trusted-host",
       kWrong,
       {{"r.txt", "six\n--user\n"}}},
  };
}

std::vector<BadEnvironment> locks() {
  const std::string conda = "  manager: conda\n";
  const std::string linux = "  platform: linux-64\n";
  const std::string url = "  url: https://host/c/linux-64/zlib-1.3.1-0.conda\n";
  return {
      {"explicit_without_a_hash", "@EXPLICIT\nhttps://host/c/linux-64/zlib-1.3.1-0.conda\n",
       "env.yml:2:1: 'https://host/c/linux-64/zlib-1.3.1-0.conda' has no hash; make the file with: "
       "conda list --explicit --md5, or --sha256"},
      {"explicit_with_a_bad_hash",
       "# platform: linux-64\n@EXPLICIT\nhttps://host/c/linux-64/zlib-1.3.1-0.conda#abc\n",
       "env.yml:3:1: 'abc' is not a valid hash; write 64 hexadecimal digits for SHA-256, or 32 for "
       "MD5"},
      {"explicit_of_a_mac", "@EXPLICIT\nhttps://host/c/osx-arm64/zlib-1.3.1-0.conda#" + kMd5 + "\n",
       "env.yml:2:1: 'https://host/c/osx-arm64/zlib-1.3.1-0.conda': is a package for 'osx-arm64'; "
       "nodes run packages for linux-64, linux-aarch64 or noarch",
       kNotYet},
      {"explicit_of_two_platforms",
       fmt::format("@EXPLICIT\nhttps://h/c/linux-64/a-1-0.conda#{0}\n"
                   "https://h/c/linux-aarch64/b-1-0.conda#{0}\n",
                   kMd5),
       "env.yml:3:1: 'https://h/c/linux-aarch64/b-1-0.conda': is a package for 'linux-aarch64', "
       "but earlier packages are for 'linux-64'; write one file for each platform"},
      {"explicit_twice",
       fmt::format("@EXPLICIT\nhttps://h/c/linux-64/a-1-0.conda#{0}\n"
                   "https://h/c/linux-64/a-2-0.conda#{0}\n",
                   kMd5),
       "env.yml:3:1: 'a' is listed twice, with different addresses or hashes"},
      {"explicit_of_nothing", "@EXPLICIT\n# nothing\n", "env.yml:1:1: names no package"},
      {"explicit_with_a_name", "@EXPLICIT\nnumpy=1.26\n",
       "env.yml:2:1: 'numpy=1.26': is not the address of a package"},
      {"explicit_without_an_archive", "@EXPLICIT\nhttps://h/c/linux-64/a.whl#" + kMd5 + "\n",
       "env.yml:2:1: 'https://h/c/linux-64/a.whl': is not the address of a package; it must end "
       "with .conda or .tar.bz2"},
      {"explicit_without_a_build", "@EXPLICIT\nhttps://h/c/linux-64/a-1.conda#" + kMd5 + "\n",
       "env.yml:2:1: 'https://h/c/linux-64/a-1.conda': is not the address of a package; the file "
       "name must have the form NAME-VERSION-BUILD.conda"},
      {"explicit_with_a_password",
       "@EXPLICIT\nhttps://me:secret@h/c/linux-64/a-1-0.conda#" + kMd5 + "\n",
       "env.yml:2:1: an address holds a password, which everybody who may look at the environment "
       "would see; name a mirror that needs none"},
      {"explicit_with_a_query",
       "@EXPLICIT\nhttps://h/c/linux-64/a-1-0.conda?token=secret#" + kMd5 + "\n",
       "env.yml:2:1: " + query("query", '?', "%3F")},
      {"explicit_with_bytes", "@EXPLICIT\n# \xff\n",
       "env.yml:2:3: is not UTF-8 text; save the file as UTF-8"},
      {"lock_of_another_version", "version: 2\npackage: []\n",
       "env.yml:1:10: 'version': lock files of version '2' are not supported, only of version 1",
       kNotYet},
      {"lock_without_a_version", "package: []\n",
       "env.yml:1:1: a lock file of conda-lock needs 'version'"},
      {"lock_without_packages", "version: 1\nmetadata: {}\n",
       "env.yml:1:1: a lock file of conda-lock needs a list 'package'; make the file with: "
       "conda-lock -p "
       "linux-64"},
      {"lock_with_empty_packages", "version: 1\nmetadata: {}\npackage:\n",
       "env.yml:3:1: a lock file of conda-lock needs a list 'package'; make the file with: "
       "conda-lock -p "
       "linux-64"},
      {"lock_of_the_category_dev",
       lock(conda + linux + url + "  category: dev\n  hash: {md5: " + kMd5 + "}\n"),
       "env.yml:3:1: 'package' has packages for Linux only in other categories than 'main', and "
       "those are not installed: zlib; move them to 'main' and lock again",
       kNotYet},
      {"lock_of_ftp",
       lock(conda + linux + "  url: ftp://h/c/linux-64/zlib-1-0.conda\n  hash: {md5: " + kMd5 +
            "}\n"),
       "env.yml:4:3: 'ftp://h/c/linux-64/zlib-1-0.conda' has the scheme 'ftp'; nodes fetch only "
       "from http, https and file"},
      {"lock_of_pixi", "version: 6\nenvironments: {}\npackages: []\n",
       "env.yml:1:1: is a lock file of pixi, which is not supported; make a lock file that begins "
       "with @EXPLICIT: pixi workspace export conda-explicit-spec DIRECTORY",
       kNotYet},
      {"explicit_for_a_mac",
       "# platform: osx-arm64\n@EXPLICIT\nhttps://h/c/noarch/a-1-0.conda#" + kMd5 + "\n",
       "env.yml:1:1: is a lock for 'osx-arm64'; nodes run linux-64 or linux-aarch64", kNotYet},
      {"explicit_with_a_blank", "@EXPLICIT\nfile:///my c/noarch/a-1-0.conda#" + kMd5 + "\n",
       "env.yml:2:1: 'file:///my c/noarch/a-1-0.conda' contains a blank or another character that "
       "must be percent-encoded in an address; write file:///my%20c/noarch/a-1-0.conda"},
      {"lock_with_a_key", "version: 1\npackage: []\nchannels: [a]\n",
       "env.yml:3:1: unknown key 'channels' in a lock file of conda-lock; the known keys are "
       "version, metadata and package"},
      {"lock_of_a_mac", lock(conda + "  platform: osx-64\n" + url),
       "env.yml:3:1: 'package' has no packages for Linux; make the lock file with: conda-lock -p "
       "linux-64",
       kNotYet},
      {"lock_of_a_text", "version: 1\npackage: [zlib]\n",
       "env.yml:2:11: a package must be a mapping, not a value"},
      {"lock_without_an_address", lock(conda + linux), "env.yml:4:3: this package has no 'url'"},
      {"lock_without_a_hash", lock(conda + linux + url),
       "env.yml:4:3: 'zlib' has no hash.sha256, and no hash.md5"},
      {"lock_with_a_bad_hash", lock(conda + linux + url + "  hash: {sha256: xyz}\n"),
       "env.yml:4:3: 'sha256:xyz' is not a valid hash; write 64 hexadecimal digits for SHA-256, or "
       "32 for MD5"},
      {"lock_of_another_manager",
       lock("  manager: npm\n" + linux + url + "  hash: {sha256: " + kSha256 + "}\n"),
       "env.yml:4:3: the manager 'npm' is not conda or pip"},
      {"lock_of_the_wrong_folder",
       lock(conda + "  platform: linux-aarch64\n" + url + "  hash: {sha256: " + kSha256 + "}\n"),
       "env.yml:4:3: 'https://host/c/linux-64/zlib-1.3.1-0.conda': this address is not for the "
       "package's platform, 'linux-aarch64'"},
      {"lock_of_pip_with_md5_alone",
       lock("  manager: pip\n" + linux + "  url: https://h/six.whl\n  hash: {md5: " + kMd5 + "}\n"),
       "env.yml:4:3: 'zlib' has no hash.sha256"},
  };
}

}  // namespace

std::vector<BadEnvironment> bad_conda_files() {
  std::vector<BadEnvironment> all = keys();
  for (const auto& more : {dependencies(), locks()})
    all.insert(all.end(), more.begin(), more.end());
  return all;
}

}  // namespace lockstep::spec

// Secrets of the calling user.

#include <fmt/format.h>
#include <termios.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "common/io/file_system.h"
#include "launcher/api/json/access.h"
#include "launcher/cli/text/view_text.h"
#include "launcher/cli/verbs/people/people_verbs.h"

namespace lockstep::cli {

namespace {

struct SecretOptions {
  std::string name;
  std::vector<std::string> names;
  std::string file;
  Format format = Format::table;
};

// Hides typed text on the terminal while this object lives.
class Unseen {
 public:
  Unseen() {
    if (::tcgetattr(STDIN_FILENO, &before_) != 0) return;
    termios hidden = before_;
    hidden.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    is_set_ = ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden) == 0;
  }
  ~Unseen() {
    if (is_set_) ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &before_);
  }
  Unseen(const Unseen&) = delete;
  Unseen& operator=(const Unseen&) = delete;

 private:
  termios before_{};
  bool is_set_ = false;
};

// Reads to the end; if a person types, to the end of the line.
Result<std::string> read_value(Context& context) {
  const bool typed = ::isatty(STDIN_FILENO) == 1;
  std::optional<Unseen> unseen;
  if (typed) {
    unseen.emplace();
    context.terminal.print_line("Type the secret (it is not shown):");
  }
  std::string value;
  char buffer[4096];
  while (value.size() <= kMaxSecretBytes + 1) {
    const ssize_t got = ::read(STDIN_FILENO, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno_error(errno, "cannot read standard input");
    if (got == 0) break;
    value.append(buffer, static_cast<std::size_t>(got));
    if (typed && value.find('\n') != std::string::npos) break;
  }
  return value;
}

// Reads the value. A file or a line ends with a newline, which is not part of the secret.
Result<std::string> value_of(Context& context, const SecretOptions& options) {
  TRY_ASSIGN(std::string value, options.file.empty()
                                    ? read_value(context)
                                    : io::read_file(options.file, Bytes{kMaxSecretBytes + 2}));
  if (value.ends_with('\n')) value.pop_back();
  if (value.ends_with('\r')) value.pop_back();
  TRY(validate_secret_value(value));
  return value;
}

int set(Context& context, const SecretOptions& options) {
  if (const auto good = validate_secret_name(options.name); !good)
    return fail(context.terminal, good.error(), kExitUsage);
  auto value = value_of(context, options);
  if (!value) return fail(context.terminal, value.error(), kExitUsage);
  return ask_to_change(context, SetSecret{options.name, *std::move(value)});
}

int remove(Context& context, const SecretOptions& options) {
  int code = 0;
  for (const std::string& name : options.names)
    code = std::max(code, ask_to_change(context, RemoveSecret{name}));
  return code;
}

int list(Context& context, const SecretOptions& options) {
  const auto connection = context.connect(Context::Need::launcher);
  if (!connection) return fail(context.terminal, connection.error());
  const auto reply = (*connection)->ask_for<SecretsReply>(ListSecrets{});
  if (!reply) return fail(context.terminal, reply.error());
  Table table({"NAME", "UPDATED"});
  for (const SecretView& secret : reply->secrets)
    table.add({secret.name, to_string(secret.updated)});
  return print(context, options.format, api::to_json(reply->secrets), table.text());
}

}  // namespace

void add_secret_verbs(VerbTable table) {
  CLI::App* const added =
      table.add("secret", "secret values for variables of your jobs: ${{secrets.NAME}}");
  if (added == nullptr) return;
  CLI::App& group = *added;
  const auto options = std::make_shared<SecretOptions>();
  group.require_subcommand(1);
  const auto add = [&](const char* name, const char* what,
                       int (*work)(Context&, const SecretOptions&)) {
    auto* verb = group.add_subcommand(name, what);
    verb->callback([&action = table.action, options, work] {
      action = [options, work](Context& context) { return work(context, *options); };
    });
    return verb;
  };
  auto* set_verb = add("set", "set a secret, from standard input or a file", set);
  set_verb->add_option("NAME", options->name, "letters, digits and '_'")->required();
  set_verb
      ->add_option("--from-file", options->file,
                   "read it from this file (default: from standard input)")
      ->check(filled("name the file"));
  add("remove", "remove secrets", remove)
      ->add_option("NAME", options->names, "see `lockstep secret list`")
      ->required();
  add_format(*add("list", "the names of your secrets", list), options->format);
}

}  // namespace lockstep::cli

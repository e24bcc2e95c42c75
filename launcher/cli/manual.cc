#include "launcher/cli/manual.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "common/io/file_system.h"
#include "launcher/cli/verb_tree.h"

namespace lockstep::cli {

namespace {

// Escapes running text: no word may be read as a request of roff, and '-' must be copied as a
// minus.
std::string plain(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const bool begins_line = out.empty() || out.back() == '\n';
    if (begins_line && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else
      out += c;
  }
  return out;
}

// Lines that stay unchanged.
std::string verbatim(const std::string& text) {
  const auto begin = text.find_first_not_of('\n');
  if (begin == std::string::npos) return "";
  return ".nf\n" + plain(text.substr(begin)) + "\n.fi\n";
}

// The text below a verb's help. CLI11 gives a verb the text of its group if it has none.
std::string notes_of(const CLI::App& verb) {
  const CLI::App* group = verb.get_parent();
  const std::string notes = verb.get_footer();
  return group != nullptr && group->get_footer() == notes ? "" : verbatim(notes);
}

std::string names_of(const CLI::Option& option) {
  std::string names;
  const auto add = [&](const std::string& name) {
    names += (names.empty() ? "" : ", ") + ("\\fB" + plain(name) + "\\fR");
  };
  for (const std::string& name : option.get_snames()) add("-" + name);
  for (const std::string& name : option.get_lnames()) add("--" + name);
  if (option.get_positional() && names.empty()) add(option.get_name(true));
  if (takes_value(option) && option.nonpositional())
    names += " \\fI" + plain(option.get_type_name()) + "\\fR";
  return names;
}

std::string options_text(const CLI::App& verb) {
  std::string text;
  for (const CLI::Option* option : options_of(verb))
    text += ".TP\n" + names_of(*option) + "\n" + plain(option->get_description()) + "\n";
  return text;
}

std::string usage(const CLI::App& verb, const std::string& name) {
  std::string text = ".B " + plain(name) + "\n";
  if (!options_of(verb).empty()) text += "[\\fIOPTIONS\\fR]\n";
  for (const CLI::Option* option : options_of(verb))
    if (option->get_positional()) text += "\\fI" + plain(option->get_name(true)) + "\\fR\n";
  if (!verbs_below(verb).empty()) text += "\\fIVERB\\fR\n";
  return text;
}

// The manual of a verb and of the verbs below it.
std::string verb_text(const CLI::App& verb, const std::string& name) {
  std::string text = fmt::format(".SS {}\n{}.PP\n{}\n", plain(name), usage(verb, name),
                                 plain(verb.get_description()));
  text += options_text(verb) + ".PP\n" + notes_of(verb);
  for (const CLI::App* below : verbs_below(verb))
    text += verb_text(*below, name + " " + below->get_name());
  return text;
}

std::string header(const std::string& name, const std::string& what) {
  std::string title = name;
  for (char& c : title) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return fmt::format(
      ".TH \"{}\" 1 \"\" \"lockstep {}\" \"Lockstep\"\n.SH NAME\n{} \\- {}\n.SH SYNOPSIS\n",
      plain(title), LOCKSTEP_VERSION, plain(name), plain(what));
}

std::string main_page(const CLI::App& app) {
  std::string text = header("lockstep", "runs distributed training jobs");
  text += usage(app, "lockstep") + ".SH DESCRIPTION\n" + plain(app.get_description()) + "\n";
  text += ".SH VERBS\n";
  for (const CLI::App* verb : verbs_below(app))
    text +=
        fmt::format(".TP\n\\fB{}\\fR\n{}; see \\fBlockstep\\-{}\\fR(1)\n", plain(verb->get_name()),
                    plain(verb->get_description()), plain(verb->get_name()));
  return text + ".SH OPTIONS\n" + options_text(app) + ".SH NOTES\n" + verbatim(app.get_footer());
}

std::string page_of(const CLI::App& verb) {
  const std::string name = "lockstep " + verb.get_name();
  std::string text = header("lockstep-" + verb.get_name(), verb.get_description());
  text += usage(verb, name) + ".SH OPTIONS\n" + options_text(verb);
  const std::string notes = notes_of(verb);
  if (!notes.empty()) text += ".SH NOTES\n" + notes;
  if (!verbs_below(verb).empty()) text += ".SH VERBS\n";
  for (const CLI::App* below : verbs_below(verb))
    text += verb_text(*below, name + " " + below->get_name());
  return text + ".SH SEE ALSO\n\\fBlockstep\\fR(1)\n";
}

Status write_pages(const CLI::App& app, const std::string& directory) {
  TRY(io::make_directories(directory, 0755));
  TRY(io::write_file_atomically(directory + "/lockstep.1", main_page(app), 0644));
  for (const CLI::App* verb : verbs_below(app))
    TRY(io::write_file_atomically(directory + "/lockstep-" + verb->get_name() + ".1",
                                  page_of(*verb), 0644));
  return {};
}

}  // namespace

Result<std::string> manual_page(const CLI::App& verbs, const std::string& verb) {
  if (verb.empty()) return main_page(verbs);
  for (const CLI::App* one : verbs_below(verbs))
    if (one->get_name() == verb) return page_of(*one);
  return make_error(
      ErrorCode::invalid_argument,
      fmt::format("help --man: there is no verb '{}'; `lockstep help` shows them all", verb));
}

Result<std::string> manual_text(const std::vector<std::string>& words) {
  const VerbTree tree;
  const std::string last = words.size() > 1 ? words[1] : "";
  if (words.size() <= 2 && words[0] == "--man") return manual_page(tree.app(), last);
  if (words.size() == 2 && words[0] == "--man-pages") {
    TRY(write_pages(tree.app(), last));
    return std::string();
  }
  return make_error(ErrorCode::invalid_argument,
                    "help: write `help --man [VERB]` for a manual page, or `help --man-pages DIR` "
                    "for the files of all");
}

}  // namespace lockstep::cli

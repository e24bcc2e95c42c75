#include "runner/steps/activate.h"

namespace lockstep::runner {

void activate(const Activation& activation, std::map<std::string, std::string>* variables) {
  const bool has_own_path = variables->count("PATH") != 0;
  for (const auto& [name, value] : activation.variables) variables->try_emplace(name, value);
  if (has_own_path || activation.path.empty()) return;
  std::string path;
  for (const std::string& folder : activation.path) path += folder + ":";
  const auto rest = variables->try_emplace("PATH", kLoginPath).first;
  rest->second.insert(0, path);
}

void activate_image(Activation activation, bool ranks_are_root,
                    std::map<std::string, std::string>* variables) {
  if (!ranks_are_root) activation.variables.erase("HOME");
  activate(activation, variables);
}

}  // namespace lockstep::runner

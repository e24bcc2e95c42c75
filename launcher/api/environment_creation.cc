// Environments that clients register or ask for, together with the operator's map of environments.

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/domain/environment/definition.h"
#include "launcher/api/mapped_environments.h"
#include "launcher/api/service.h"

namespace lockstep::launcher {

// Whether the operator's map has the name. The map takes precedence over registered names.
// Otherwise a user who registers such a name would run code in the jobs of everybody who relies on
// the map.
bool Service::is_in_map(const EnvironmentSpec& spec) const {
  if (state().names().find(NameKind::environment, spec.name) != nullptr) return false;
  std::vector<std::string> references{spec.name};
  if (!spec.version.empty()) references.push_back(spec.name + ":" + spec.version);
  return std::any_of(references.begin(), references.end(), [&](const std::string& reference) {
    return std::holds_alternative<EnvironmentReply>(
        environment_called(reference, LauncherItself{}));
  });
}

ClientReply Service::environment_called(const std::string& reference, const Caller& caller) const {
  return with_map(state(), ports_.files, reference, caller);
}

FindMappedImages Service::images_in_map() const {
  return [&files = ports_.files](const std::set<std::string>& images) {
    return mapped_images(files, images);
  };
}

void Service::create_environment(const Asker& asker, CreateEnvironment create) {
  if (is_in_map(create.environment.spec))
    return refuse(asker, ErrorCode::already_exists,
                  fmt::format("the name '{}' is in the operator's environments.map; choose another "
                              "with --name",
                              create.environment.spec.name));
  if (const auto low = ports_.launcher.low_space(); !low.empty())
    return refuse(asker, ErrorCode::resource_exhausted, low);
  std::vector<Digest> roots;
  if (const Digest* context = context_of(create.environment.spec.definition))
    roots.push_back(*context);
  check_trees(asker, std::move(roots),
              [this, asker, create = std::move(create)](Result<bool> whole) {
                if (!whole) return refuse(asker, whole.error().code, whole.error().message);
                if (!*whole)
                  return refuse(asker, ErrorCode::not_found,
                                "environment.build: the launcher does not have all files of the "
                                "build folder; create the environment again");
                register_environment(asker, create);
              });
}

// Registers the environment. Its build folder, if there is one, is complete and belongs to the
// asker.
void Service::register_environment(const Asker& asker, const CreateEnvironment& create) {
  const auto feed = [this, asker, create](Bytes files) {
    ports_.core.feed(CreateEnvironmentInput{expect_reply(asker), create.environment, create.project,
                                            asker.caller, files});
  };
  const Digest* context = context_of(create.environment.spec.definition);
  if (context == nullptr) return feed({});
  ports_.blobs.measure(asker.caller, *context, [this, asker, feed](const Result<Bytes>& size) {
    if (asker.deadline < ports_.clock.now()) return;  // too late: its client asks again
    if (!size)
      return refuse(asker, size.error().code, "environment.build: " + size.error().message);
    feed(*size);
  });
}

}  // namespace lockstep::launcher

#pragma once
// Decides who may register a version under a name of environments, data, models or components, and
// handles requests that share a name, and that annotate and delete versions.

#include "launcher/core/base/context.h"

namespace lockstep::launcher {

void react(Context& core, const ShareNameInput& input);
void react(Context& core, const DeleteVersionsInput& input);
void react(Context& core, const AnnotateVersionInput& input);

// Checks that a name has a version. False: it has not, and the request was refused. `version` "":
// the name needs at least one version.
bool expect_version(Context& core, const ReplyTo& reply, const NameKey& key,
                    const std::string& version);

// Why the caller may not register a version under the name; nullopt: the caller may. `wanted`: the
// project that the request names; "": none. `project`: the project of the name if it is new.
std::optional<Error> why_not_registered(const State& state, const Caller& caller,
                                        const NameKey& key, const std::string& wanted,
                                        const std::string& project);
// Why a version of this size cannot be registered: a quota of the caller or of the project, or the
// launcher's limit. nullopt: it can.
std::optional<Error> why_no_room(const Cluster& cluster, const Caller& caller, const NameKey& key,
                                 const std::string& project, std::int64_t bytes, Bytes files);
// The next number that no version of the name has had, deleted ones included.
std::string next_version(const State& state, const NameKey& key);

}  // namespace lockstep::launcher

#pragma once
// Kubernetes' rules for names, and the names of what this provider makes.

#include <string>
#include <string_view>

#include "launcher/compute/contract.h"

namespace lockstep::compute::kubernetes {

// Whether a text is a label of RFC 1123: a-z, 0-9 and '-', beginning and ending with a letter or
// digit; at most 63. A subdomain: labels with '.' between them, at most 253.
bool is_dns_label(std::string_view text);
bool is_dns_subdomain(std::string_view text);
// "[SUBDOMAIN/]NAME": of labels, annotations and resources.
bool is_qualified_name(std::string_view text);
bool is_label_value(std::string_view text);
// "2", "500m", "1.5Gi": an amount of a resource.
bool is_quantity(std::string_view text);

inline constexpr const char* kLauncherLabel = "lockstep.launcher";
inline constexpr const char* kTargetLabel = "lockstep.target";
inline constexpr const char* kMachineLabel = "lockstep.machine";

// Names of a pod and of the Secret with its token. Targets and machines whose names differ get
// different ones.
std::string pod_name(const Request& request, const std::string& machine);
// The machine's name as a host name.
std::string host_name(const std::string& machine);
// Checks names; returns invalid_argument if the name of the launcher, target or a machine cannot be
// a label's value.
Status check_names(const Request& request);

}  // namespace lockstep::compute::kubernetes

#pragma once
// A launcher's Service over a real core, with a user of each role. Of each kind of object there is
// one of the asker's own, one of a colleague in the same project, and one of another project.
// Nothing is sent over a wire.

#include <optional>
#include <string>
#include <vector>

#include "launcher/api/service.h"
#include "tests/fakes/api/ports.h"

namespace lockstep::launcher {

// Who asks. `attempt` is the one of the submitter's own job, which runs.
enum class Kind { nobody, admin, operator_, submitter, viewer, stranger, node, attempt };
inline constexpr Kind kKinds[] = {Kind::nobody, Kind::admin,    Kind::operator_, Kind::submitter,
                                  Kind::viewer, Kind::stranger, Kind::node,      Kind::attempt};
std::string_view to_string(Kind kind);

enum class Whose { own, near, far };
inline constexpr Whose kWhose[] = {Whose::own, Whose::near, Whose::far};

inline constexpr const char* kCanaryValue = "canary-value-of-a-variable";
inline constexpr const char* kCanaryCommand = "canary-command-of-a-job";

class PermissionWorld {
 public:
  explicit PermissionWorld(Kind kind);

  // The service's answer; nullopt: it gave none.
  std::optional<ClientReply> ask(ClientRequest request);
  // The number of facts that the last request caused, and its audit entries.
  std::size_t facts() const { return facts_; }
  const std::vector<AuditEntry>& entries() const { return ports_.audit.entries; }

  Caller caller() const;
  std::string user(Whose whose) const;  // the owner's name
  std::string project(Whose whose) const;
  JobId job(Whose whose) const;
  std::string environment(Whose whose) const;
  std::string asset(Whose whose) const;  // a data asset
  PublicKey key(Whose whose) const;
  static std::string node() { return "n1"; }
  static std::string token();  // its id
  static std::string compute() { return "lab"; }
  static std::string instance() { return "desk"; }
  static std::string size() { return "lab-size"; }
  // A cluster made by a site's program, one machine of which a job of another project waits for.
  void add_cluster(const std::string& name);
  // A pipeline with one step, which has the command and the variable of the jobs.
  JobId add_pipeline(Whose whose, bool shared);
  void end_jobs();  // so that they can be deleted
  void share_jobs();
  void share_names();  // with all of their projects

  static RegisteredAsset files(const std::string& name);  // a folder, without a version
  static RegisteredEnvironment definition(const std::string& name, const std::string& image);

 private:
  void feed(const Input& input) { ports_.core.feed(input); }
  void add_user(const std::string& name, const Grant& grant);
  void open_node();
  void add_things(Whose whose);

  const Kind kind_;
  test::FakePorts ports_;
  std::size_t facts_ = 0;
  Service service_{ports_.all()};
};

}  // namespace lockstep::launcher

// write_schemas FOLDER: writes the JSON schemas of all objects with keys(), one in a file.

#include <iostream>
#include <nlohmann/json.hpp>

#include "common/io/file_system.h"
#include "launcher/api/json/access.h"
#include "launcher/api/json/asset.h"
#include "launcher/api/json/cluster.h"
#include "launcher/api/json/compute.h"
#include "launcher/api/json/datastore.h"
#include "launcher/api/json/environment.h"
#include "launcher/api/json/found.h"
#include "launcher/api/json/job.h"
#include "launcher/api/json/size.h"
#include "launcher/api/json/usage.h"
#include "launcher/cli/attach/diagnosis.h"

namespace lockstep::api {
namespace {

class SchemaFolder {
 public:
  explicit SchemaFolder(std::string folder) : folder_(std::move(folder)) {}

  // The page of an object, which its keys() names.
  template <class T>
  void add() {
    add(page_of<T>());
  }
  // The page of a list of objects.
  template <class T>
  void add_list(const char* name, const char* title, const char* says) {
    Json page = page_head(name, title, says), list;
    put_schema(list, std::vector<T>(), {});
    page.update(list);
    add(page);
  }
  // The page of either object, named by the first.
  template <class First, class Second>
  void add_either() {
    Json first = page_of<First>(), second, page;
    put_schema(second, Second(), {});
    for (const char* key : {"$schema", "$id", "title", "description"}) {
      page[key] = first[key];
      first.erase(key);
    }
    page["oneOf"] = {std::move(first), std::move(second)};
    add(page);
  }
  // The types that pages refer to by name.
  void add_types() {
    Json page = page_head("types", "Shared types", "Texts of one form that many objects have.");
    page["$defs"] = shared_types();
    add(page);
  }
  // Of the first page that could not be written.
  const Status& written() const { return written_; }

 private:
  template <class T>
  static Json page_of() {
    Json page;
    SchemaWriter writer(page, SchemaWriter::Of::page);
    keys(T(), writer);
    return page;
  }
  void add(const Json& page) {
    const std::string path = folder_ + "/" + page["$id"].get<std::string>();
    if (written_) written_ = io::write_file_atomically(path, page.dump(2) + "\n", 0644, false);
  }

  const std::string folder_;
  Status written_;
};

void write_pages_of_jobs(SchemaFolder& folder) {
  folder.add<JobView>();
  folder.add_list<JobView>("job-list", "Jobs",
                           "What `lockstep job list` prints, the newest first.");
  folder.add<JobEvent>();
  folder.add_list<JobEvent>("event-list", "Events",
                            "What `lockstep job events` prints, the oldest first.");
  folder.add<ExplainView>();
  folder.add<ExitReport>();
  folder.add<Of<Found>>();
  folder.add<cli::StackReport>();
  folder.add<cli::Diagnosis>();
  folder.add<JobsDeleted>();
  folder.add<CheckedFile>();
  folder.add<Done>();
  folder.add<EnvironmentSpec>();
  folder.add<EnvironmentReport>();
  folder.add<EnvironmentView>();
  folder.add_list<EnvironmentView>("environment-list", "Environments",
                                   "What `lockstep environment list` prints.");
}

void write_pages_of_clusters(SchemaFolder& folder) {
  folder.add_either<LauncherStatus, NoLauncher>();
  folder.add<UsageReply>();
  folder.add<MeasuredNode>();
  folder.add<MeasuredPart>();
  folder.add<NodeView>();
  folder.add_list<NodeView>("node-list", "Nodes", "What `lockstep node list` prints.");
  folder.add<NewToken>();
  folder.add_list<TokenView>(
      "token-list", "Join tokens",
      "What `lockstep node token list` prints: the newest first, without their secrets.");
  folder.add<ComputeView>();
  folder.add_list<ComputeView>("compute-list", "Compute targets",
                               "What `lockstep compute list` prints.");
  folder.add<SizeView>();
  folder.add_list<SizeView>("size-list", "Sizes",
                            "What `lockstep size list` and `lockstep compute list-sizes` print.");
  folder.add_list<SizeSeries>("size-family-list", "Families of sizes",
                              "What `lockstep size list --series` prints.");
}

void write_pages_of_names(SchemaFolder& folder) {
  folder.add<AssetView>();
  folder.add_list<AssetView>("asset-list", "Data assets or models",
                             "What `lockstep data list` and `lockstep model list` print.");
  folder.add<DatastoreView>();
  folder.add_list<DatastoreView>("datastore-list", "Datastores",
                                 "What `lockstep datastore list` prints.");
  folder.add<UserView>();
  folder.add_list<UserView>("user-list", "Users", "What `lockstep user list` prints.");
  folder.add<Oneself>();
  folder.add<ProjectView>();
  folder.add_list<ProjectView>("project-list", "Projects", "What `lockstep project list` prints.");
  folder.add<QuotaView>();
  folder.add_list<QuotaView>("quota-list", "Quotas",
                             "What `lockstep quota list` and `lockstep quota show` print.");
  folder.add<SecretView>();
  folder.add_list<SecretView>("secret-list", "Secrets",
                              "What `lockstep secret list` prints: ones own.");
  folder.add<AuditEntry>();
  folder.add_list<AuditEntry>("audit-list", "Audit log",
                              "What `lockstep audit` prints, the newest last.");
  folder.add<AuditVerified>();
}

}  // namespace
}  // namespace lockstep::api

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: write_schemas FOLDER\n";
    return 2;
  }
  lockstep::api::SchemaFolder folder(argv[1]);
  folder.add_types();
  lockstep::api::write_pages_of_jobs(folder);
  lockstep::api::write_pages_of_clusters(folder);
  lockstep::api::write_pages_of_names(folder);
  if (folder.written()) return 0;
  std::cerr << "write_schemas: " << folder.written().error().message << '\n';
  return 1;
}

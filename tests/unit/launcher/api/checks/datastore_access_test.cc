// Where a job's outputs go, and who may write there.

#include "launcher/api/checks/datastore_access.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lockstep::launcher {
namespace {

using testing::HasSubstr;

Datastores stores() {
  const auto read = spec::read_datastores(
      "/home/datastores.yml",
      "default: scratch\n"
      "scratch: {directory: /data/scratch}\n"
      "lake: {rclone: 'minio:bucket/sets', config: rclone.conf, users: [alice], projects: [p]}\n"
      "fixed: {rclone: 'minio:fixed', config: rclone.conf, read_only: true}\n");
  EXPECT_TRUE(read) << read.error().message;
  return {*read, "/home/datastores.yml"};
}

OutputSpec output_at(const std::string& path, OutputType type = OutputType::uri_folder) {
  OutputSpec output;
  output.name = "model";
  output.type = type;
  output.path = path;
  return output;
}

std::string refused(const std::string& path, OutputType type = OutputType::uri_folder,
                    const DatastoreUser& user = {"alice", "default"}) {
  OutputSpec output = output_at(path, type);
  const Status placed = place_output(stores(), user, output);
  return placed ? "not refused" : placed.error().message;
}

TEST(DatastoreAccess, OutputsGoToDirectoriesRemotesAndTheDefault) {
  OutputSpec lake = output_at("azureml://datastores/lake/paths/runs/${{name}}");
  ASSERT_TRUE(place_output(stores(), {"alice", "default"}, lake));
  EXPECT_EQ(lake.remote, "lake");
  EXPECT_FALSE(lake.place);
  EXPECT_EQ(path_of(lake, "train"), "azureml://datastores/lake/paths/runs/train");
  OutputSpec other = output_at("azureml://datastores/${{default_datastore}}/paths/x");
  ASSERT_TRUE(place_output(stores(), {"bob", "default"}, other));
  EXPECT_EQ(other.path, "azureml://datastores/scratch/paths/x");
  EXPECT_EQ(other.place, (DatastorePath{"scratch", "/data/scratch", "x"}));
  EXPECT_EQ(other.remote, "");
}

TEST(DatastoreAccess, SaysWhyAnOutputCannotGoThere) {
  EXPECT_EQ(refused("azureml://datastores/fixed/paths/x"),
            "outputs.model.path: azureml://datastores/fixed/paths/x: datastore 'fixed' is "
            "read-only");
  EXPECT_THAT(refused("azureml://datastores/lake", OutputType::uri_file),
              HasSubstr("it is a folder; name a file"));
  EXPECT_THAT(refused("azureml://datastores/lake/paths/x", OutputType::uri_folder, {"bob", "q"}),
              HasSubstr("there is no datastore 'lake' for you"));
  OutputSpec output = output_at("azureml://datastores/${{default_datastore}}/paths/x");
  const Status placed = place_output({}, {"alice", "default"}, output);
  ASSERT_FALSE(placed);
  EXPECT_THAT(placed.error().message, HasSubstr("there is no default datastore; write the name"));
}

// What a user of Azure's files meets first.
TEST(DatastoreAccess, WhatIsMissingIsAnsweredWithTheLinesThatAddIt) {
  const auto error = [](const Datastores& all, const std::string& name) {
    const auto found = find_datastore(all, {"alice", "default"}, name);
    return found ? "found" : found.error().message;
  };
  EXPECT_EQ(
      error({{}, "/srv/l/datastores.yml"}, "workspaceblobstore"),
      "there is no datastore 'workspaceblobstore' for you; to add it, the launcher's operator "
      "writes into /srv/l/datastores.yml:\n"
      "  workspaceblobstore:\n"
      "    directory: /A/FOLDER/THAT/EACH/NODE/HAS\n"
      "  default: workspaceblobstore");
  EXPECT_EQ(error(stores(), "workspaceblobstore"),
            "there is no datastore 'workspaceblobstore' for you; `lockstep datastore list` shows "
            "those that there are; to add it, the launcher's operator writes into "
            "/home/datastores.yml:\n"
            "  workspaceblobstore:\n"
            "    directory: /A/FOLDER/THAT/EACH/NODE/HAS");
  EXPECT_EQ(error(stores(), "scrtch"),
            "there is no datastore 'scrtch' for you; did you mean 'scratch'?");
  const auto found = find_datastore(stores(), {"alice", "default"}, "default_datastore");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->view.name, "scratch");
}

TEST(DatastoreAccess, AWriteIsCheckedAgainstTheFileAsItIsNow) {
  WriteOutput write;
  write.datastore = "lake";
  write.to = "azureml://datastores/lake/paths/runs/train";
  write.user = "bob";
  write.project = "p";
  const auto to = remote_of(stores(), write);
  ASSERT_TRUE(to) << to.error().message;
  EXPECT_EQ(to->remote, "minio:bucket/sets");
  EXPECT_EQ(to->path, "runs/train");
  write.project = "q";
  EXPECT_EQ(remote_of(stores(), write).error().code, ErrorCode::not_found);
  Datastores changed = stores();
  for (spec::Datastore& store : changed.stores) store.view.read_only = true;
  write.project = "p";
  EXPECT_EQ(remote_of(changed, write).error().message, "datastore 'lake' is read-only now");
}

}  // namespace
}  // namespace lockstep::launcher

// The tables of registered data, names, datastores, inputs and outputs.

#include "common/wire/data/asset_codec.h"
#include "common/wire/data/datastore_codec.h"
#include "common/wire/data/name_codec.h"
#include "common/wire/job/assignment_codec.h"
#include "common/wire/job/job_codec.h"
#include "proto/asset.access.h"
#include "proto/assignment.access.h"
#include "proto/datastore.access.h"
#include "proto/job.access.h"
#include "proto/name.access.h"
#include "tests/unit/common/wire/check_table.h"

namespace lockstep::test {
namespace {

TEST(DataTables, Assets) {
  check_table<pb::RegisteredAsset, RegisteredAsset>();
  check_table<pb::CreateAsset, CreateAsset>();
  check_table<pb::ListAssets, ListAssets>();
  check_table<pb::ShowAsset, ShowAsset>();
  check_table<pb::ArchiveAsset, ArchiveAsset>();
  check_table<pb::AssetView, AssetView>();
  check_table<pb::AssetReply, AssetReply>();
  check_table<pb::AssetsReply, AssetsReply>();
}

TEST(DataTables, Names) {
  check_table<pb::NameGrants, NameGrants>();
  check_table<pb::ShareName, ShareName>();
  check_table<pb::DeleteVersions, DeleteVersions>();
  check_table<pb::AnnotateVersion, AnnotateVersion>();
}

TEST(DataTables, Datastores) {
  check_table<pb::DatastoreView, DatastoreView>();
  check_table<pb::DatastorePath, DatastorePath>();
  check_table<pb::ListDatastores, ListDatastores>();
  check_table<pb::DatastoresReply, DatastoresReply>();
  check_table<pb::WaitsForData, WaitsForData>();
}

TEST(DataTables, InputsAndOutputs) {
  check_table<pb::DataInput, DataInput>();
  check_table<pb::OutputAsset, OutputAsset>();
  check_table<pb::OutputSpec, OutputSpec>();
  check_table<pb::CollectedOutput, CollectedOutput>();
  check_table<pb::MergedOutput, MergedOutput>();
  check_table<pb::NotKept, NotKept>();
  check_table<pb::NodeTree, NodeTree>();
  check_table<pb::CheckpointSource, CheckpointSource>();
}

TEST(DataTables, OfACollectedOutputTheNameIsChecked) {
  pb::CollectedOutput wire;
  to_wire(filled<CollectedOutput>(), &wire);
  wire.set_name("../x");
  CollectedOutput output;
  const Status read = from_wire(wire, &output);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().message, "message field collected_output.name: is not an output's name");
}

TEST(DataTables, ANumberOfAssetsIsNeverNegative) {
  pb::AssetsReply wire;
  wire.set_more(-1);
  AssetsReply reply;
  ASSERT_TRUE(from_wire(wire, &reply));
  EXPECT_EQ(reply.more, 0);
}

}  // namespace
}  // namespace lockstep::test

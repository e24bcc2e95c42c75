#include "common/domain/data/data_reference.h"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

std::optional<DatastoreReference> stored(std::string_view text) {
  const auto found = parse_data_reference(text);
  if (!found || !*found) return std::nullopt;
  const auto* reference = std::get_if<DatastoreReference>(&**found);
  return reference == nullptr ? std::nullopt : std::optional(*reference);
}

TEST(DataReference, NamesADatastoreInBothForms) {
  const DatastoreReference wanted{"lake", "a/b"};
  EXPECT_EQ(stored("azureml://datastores/lake/paths/a/b"), wanted);
  EXPECT_EQ(stored("azureml://datastores/lake/paths//a/./b/"), wanted);
  EXPECT_EQ(
      stored("azureml://subscriptions/s/resourcegroups/g/workspaces/w/datastores/lake/paths/a/b"),
      wanted);
  EXPECT_EQ(stored("azureml://subscriptions/s/resourcegroups/g/providers/"
                   "Microsoft.MachineLearningServices/workspaces/w/datastores/lake/paths/a/b"),
            wanted);
  EXPECT_EQ(stored("azureml://datastores/lake"), (DatastoreReference{"lake", ""}));
  EXPECT_EQ(stored("azureml://datastores/lake/"), (DatastoreReference{"lake", ""}));
  EXPECT_EQ(stored("azureml://datastores/lake/paths/"), (DatastoreReference{"lake", ""}));
  // A name of a file may look like an option or a remote: it stands behind the operator's remote.
  EXPECT_EQ(stored("azureml://datastores/lake/paths/-x:y"), (DatastoreReference{"lake", "-x:y"}));
}

TEST(DataReference, TakesNoOtherDatastore) {
  for (const char* text :
       {"azureml://datastores//paths/a", "azureml://datastores/-x/paths/a",
        "azureml://datastores/:sftp,host=h:/paths/a", "azureml://datastores/a b/paths/c",
        "azureml://datastores/a/b/paths/c", "azureml://datastores/lake/paths/a/../b",
        "azureml://datastores/lake/paths/..", "azureml://datastores/lake/paths/a\nb",
        "azureml://subscriptions/s/workspaces/w/environments/e"})
    EXPECT_FALSE(parse_data_reference(text)) << text;
}

}  // namespace
}  // namespace lockstep

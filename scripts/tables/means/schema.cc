#include "launcher/api/table_json.h"
#include "means/codec.h"
namespace lockstep::api {
Json schema_of_ExitReport() { return schema_of<ExitReport>(); }
Json schema_of_ComputeSpec() { return schema_of<ComputeSpec>(); }
Json schema_of_Inventory() { return schema_of<Inventory>(); }
Json schema_of_ResourceRequest() { return schema_of<ResourceRequest>(); }
}

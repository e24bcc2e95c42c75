#include "launcher/api/table_json.h"
#include "means/codec.h"
namespace lockstep::api {
Json to_json(const ExitReport& v) { return table_json(v); }
Json to_json(const RankExit& v) { return table_json(v); }
Json to_json(const ComputeSpec& v) { return table_json(v); }
Json to_json(const Inventory& v) { return table_json(v); }
Json to_json(const ResourceRequest& v) { return table_json(v); }
}

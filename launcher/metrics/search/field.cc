#include "launcher/metrics/search/field.h"

namespace lockstep::metrics {

std::string_view to_string(Entity entity) {
  switch (entity) {
    case Entity::metric: return "metrics";
    case Entity::parameter: return "params";
    case Entity::tag: return "tags";
    case Entity::attribute: return "attributes";
    case Entity::dataset: return "datasets";
  }
  return "";
}

std::string_view to_string(Attribute attribute) {
  switch (attribute) {
    case Attribute::run_id: return "run_id";
    case Attribute::run_name: return "run_name";
    case Attribute::status: return "status";
    case Attribute::user_id: return "user_id";
    case Attribute::artifact_uri: return "artifact_uri";
    case Attribute::start_time: return "start_time";
    case Attribute::end_time: return "end_time";
  }
  return "";
}

bool is_number(Attribute attribute) {
  return attribute == Attribute::start_time || attribute == Attribute::end_time;
}

bool is_number(const Field& field) {
  return field.entity == Entity::metric ||
         (field.entity == Entity::attribute && is_number(field.attribute));
}

}  // namespace lockstep::metrics

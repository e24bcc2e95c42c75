#include "common/domain/data/shared_name.h"

namespace lockstep {

std::string_view to_string(NameKind kind) {
  switch (kind) {
    case NameKind::environment: return "environment";
    case NameKind::data: return "data";
    case NameKind::model: return "model";
    case NameKind::component: return "component";
  }
  return "data";
}

std::string_view noun_of(NameKind kind) {
  return kind == NameKind::data ? "data asset" : to_string(kind);
}

NameKind name_kind_of(AssetKind kind) {
  switch (kind) {
    case AssetKind::data: return NameKind::data;
    case AssetKind::model: return NameKind::model;
    case AssetKind::component: return NameKind::component;
  }
  return NameKind::data;
}

}  // namespace lockstep

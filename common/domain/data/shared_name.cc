#include "common/domain/data/shared_name.h"

namespace lockstep {

Word describe(NameKind kind) {
  switch (kind) {
    case NameKind::environment: return {1, "environment"};
    case NameKind::data: return {2, "data"};
    case NameKind::model: return {3, "model"};
    case NameKind::component: return {4, "component"};
  }
  return {};
}
std::string_view to_string(NameKind kind) { return describe(kind).word; }

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

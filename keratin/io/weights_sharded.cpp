#include "keratin/io/weights_sharded.h"

#include <algorithm>
#include <deque>

#include "keratin/base/json.h"
#include "keratin/base/text.h"
#include "keratin/files/folder.h"

namespace keratin::io {
namespace {

constexpr std::string_view suffix = ".weights.json";
// All shards are open while they are written, and a process may have 1024 open files.
constexpr size_t max_shards = 512;

// Keras's name for a shard of x.weights.json.
std::string shard_name(const std::filesystem::path& index, size_t number) {
  const std::string name = index.filename().string();
  const std::string digits = std::to_string(number);
  return text(name.substr(0, name.size() - suffix.size()), '_',
              std::string(5 - std::min<size_t>(5, digits.size()), '0'), digits, ".weights.h5");
}

// The name of a shard, which must be a file beside the index.
const std::string& plain_name(const Json& json) {
  const std::string& name = json.as_string();
  require(!name.empty() && name != "." && name != ".." &&
              name.find_first_of(std::string_view("/\\\0", 3)) == name.npos,
          "expected the name of a shard to be a file beside it, got ", json);
  return name;
}

std::vector<std::string> names_in(const Json& json) {
  if (json.is_string()) return {plain_name(json)};
  std::vector<std::string> names;
  for (const Json& item : json.as_array()) names.push_back(plain_name(item));
  return names;
}

struct Shard {
  std::string name;
  hdf5::Writer file = {};
  double bytes = 0;
};

}  // namespace

ShardedWeights::ShardedWeights(const std::filesystem::path& index) : index_(index) {
  const files::FileView file = files::map_file(index);
  try {
    const Json json =
        Json::parse({reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()});
    for (const auto& [group, names] : json.at("weight_map").as_object())
      shards_of_[group.starts_with('/') ? group.substr(1) : group] = names_in(names);
  } catch (const UserError& error) {
    fail(file.name(), ": ", error.what());
  }
}

const H5Weights& ShardedWeights::shard(const std::string& name) const {
  const auto known = opened_.find(name);
  if (known != opened_.end()) return known->second;
  const std::filesystem::path path = index_.parent_path() / name;
  require(std::filesystem::exists(path), index_.string(), ": expected its shard '", name,
          "' beside it, found no such file");
  return opened_.try_emplace(name, files::map_in_folder(index_.parent_path(), name)).first->second;
}

size_t ShardedWeights::count(const std::string& group) const {
  size_t total = 0;
  if (const auto found = shards_of_.find(group); found != shards_of_.end())
    for (const std::string& name : found->second) total += shard(name).count(group);
  return total;
}

const H5Weights* ShardedWeights::find(const std::string& group, const std::string& name) const {
  if (const auto found = shards_of_.find(group); found != shards_of_.end())
    for (const std::string& file : found->second)
      if (const H5Weights& weights = shard(file); weights.has(group, name)) return &weights;
  return nullptr;
}

const H5Weights& ShardedWeights::shard_of(const std::string& group, const std::string& name) const {
  const H5Weights* found = find(group, name);
  require(found != nullptr, index_.string(), ": there is no '", group, '/', name, "'");
  return *found;
}

bool ShardedWeights::has(const std::string& group, const std::string& name) const {
  return find(group, name) != nullptr;
}
Dims ShardedWeights::dims(const std::string& group, const std::string& name) const {
  return shard_of(group, name).dims(group, name);
}
Tensor ShardedWeights::read(const std::string& group, const std::string& name) const {
  return shard_of(group, name).read(group, name);
}

// Each shard of a group has the name of the group's object.
std::string ShardedWeights::group_of(const std::string& object) const {
  if (!by_name_) {
    by_name_.emplace();
    for (const auto& [group, names] : shards_of_) {
      if (names.empty()) continue;
      const auto [entry, added] = by_name_->emplace(shard(names.front()).name_in(group), group);
      if (!added) entry->second.clear();
    }
  }
  const auto found = by_name_->find(object);
  return found == by_name_->end() ? std::string() : found->second;
}

// Keras's rule: variables are written in order, and a shard ends when the next one does not fit.
void write_sharded(const std::filesystem::path& index, const std::vector<SavedObject>& objects,
                   double max_shard) {
  std::deque<Shard> shards;
  shards.push_back({shard_name(index, 0)});
  Json map = Json::object();
  double total = 0;
  for (const SavedObject& object : objects)
    for (size_t i = 0; i < object.variables.size(); ++i) {
      const Tensor value = object.value(i);
      const auto bytes = static_cast<double>(value.bytes());
      require(bytes <= max_shard, "The size of '", object.variables[i].path(), "' is ", bytes,
              " bytes, which exceeds the maximum shard size of ", max_shard,
              ". You can increase `max_shard_size`.");
      if (shards.back().bytes + bytes > max_shard)
        shards.push_back({shard_name(index, shards.size())});
      require(shards.size() <= max_shards, "save_weights: with a `max_shard_size` of ", max_shard,
              " bytes there would be more than ", max_shards, " shards");
      shards.back().bytes += bytes;
      total += bytes;
      hdf5::NewGroup& group = shards.back().file.root().group(object.group());
      group.attribute("name", object.name);
      write_variable(group, std::to_string(i), value);
      Json& names = map[text('/', object.group())];
      if (names.is_null()) {
        names = shards.back().name;
      } else {
        if (names.is_string()) names = Json::Array{names};
        if (names[names.size() - 1] != Json(shards.back().name))
          names.push_back(shards.back().name);
      }
    }
  std::deque<files::AtomicFile> written;
  for (const Shard& shard : shards)
    shard.file.write(written.emplace_back(index.parent_path() / shard.name));
  const Json json =
      Json::Object{{"metadata", Json::Object{{"total_size", total}}}, {"weight_map", map}};
  written.emplace_back(index).write(files::as_bytes(json.dump(4)));
  for (files::AtomicFile& file : written) file.commit();
}

}  // namespace keratin::io

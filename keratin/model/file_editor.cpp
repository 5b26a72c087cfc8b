#include "keratin/model/file_editor.h"

#include <iostream>

#include "keratin/base/text.h"
#include "keratin/files/zip.h"
#include "keratin/io/file_kind.h"
#include "keratin/model/model.h"
#include "keratin/model/weight_tree.h"
#include "keratin/train/trainer.h"

namespace keratin {
namespace {

constexpr const char* weights_member = "model.weights.h5";

Json json_member(const files::ZipReader& zip, const char* member) {
  const files::FileView view = zip.read_text(member);
  try {
    return Json::parse({reinterpret_cast<const char*>(view.bytes().data()), view.bytes().size()});
  } catch (const UserError& error) {
    fail(view.name(), ": ", error.what());
  }
}

bool ends_in_weights(const std::filesystem::path& path) {
  return path.filename().string().ends_with(".weights.h5");
}

// Objects are "layers/dense", and "vars" is a group of the format.
void check_name(const std::string& name, std::string_view what) {
  require(!name.empty() && name != "." && name != ".." && name != "vars" &&
              name.find('/') == name.npos && name.find('\0') == name.npos,
          what, ": cannot be a name in a file: '", name, '\'');
}

// How often objects or weights have a name, and the object that contains the last of these.
size_t count_named(WeightNode& node, const std::string& name, WeightNode*& parent) {
  size_t count = 0;
  for (const auto& item : node.children) count += count_named(*item.second, name, parent);
  if (node.child(name) == nullptr && !node.weights.contains(name)) return count;
  parent = &node;
  return count + 1;
}

// The object that contains what a path or a unique name means, and the name there.
std::pair<WeightNode*, std::string> find_place(WeightNode& root, const std::string& given) {
  WeightNode* parent = &root;
  if (given.find('/') == given.npos) {
    const size_t count = count_named(root, given, parent);
    require(count <= 1, "Name '", given,
            "' occurs more than once in the model; try passing a complete path");
    require(count == 1, "Source name '", given,
            "' does not appear in the model. Use `editor.summary()` to list all objects.");
    return {parent, given};
  }
  size_t begin = 0;
  for (size_t slash = given.find('/'); slash != given.npos; slash = given.find('/', begin)) {
    parent = parent->child(given.substr(begin, slash - begin));
    require(parent != nullptr, "Path '", given, "' not found in model.");
    begin = slash + 1;
  }
  const std::string name = given.substr(begin);
  require(parent->child(name) != nullptr || parent->weights.contains(name), "Path '", given,
          "' not found in model.");
  return {parent, name};
}

WeightNode& find_object(WeightNode& root, const std::string& object) {
  if (object.empty()) return root;
  const auto [parent, name] = find_place(root, object);
  WeightNode* found = parent->child(name);
  require(found != nullptr, "'", object, "' is a weight, expected an object");
  return *found;
}

void set_weights(WeightNode& node, const KerasFileEditor::Weights& weights, std::string_view what) {
  for (const auto& [name, value] : weights) {
    check_name(name, what);
    require(node.child(name) == nullptr, what, ": '", name, "' is an object");
    node.weights.insert_or_assign(name, StoredWeight(value.clone()));
  }
}

void list_objects(const WeightNode& node, const std::string& path, std::vector<std::string>& out) {
  if (!node.weights.empty()) out.push_back(path);
  for (const auto& [name, child] : node.children)
    list_objects(*child, path.empty() ? name : text(path, '/', name), out);
}

// Prints the tree with Keras's connectors.
class Printer {
 public:
  explicit Printer(std::ostream& out) : out_(out) {}

  void print(const WeightNode& node, const std::string& prefix) {
    const std::vector<std::string> keys = node.keys();
    for (size_t i = 0; i < keys.size(); ++i) {
      const bool last = i + 1 == keys.size();
      const char* connector = std::exchange(first_, false) ? "> " : last ? "└─ " : "├─ ";
      out_ << prefix << connector << keys[i];
      const auto weight = node.weights.find(keys[i]);
      if (weight != node.weights.end()) {
        out_ << ": shape=" << keras_shape(weight->second.shape())
             << ", dtype=" << keras_name(weight->second.dtype()) << '\n';
        continue;
      }
      const WeightNode& child = *node.child(keys[i]);
      if (!child.name.empty()) out_ << " ('" << child.name << "')";
      out_ << '\n';
      print(child, prefix + (last ? "    " : "│   "));
    }
  }

 private:
  std::ostream& out_;
  bool first_ = true;
};

// Compares two trees, in Keras's words.
class Comparer {
 public:
  explicit Comparer(KerasFileEditor::Comparison& result) : result_(result) {}

  // What one has and the other lacks; shapes are compared once.
  void run(const WeightNode& file, const WeightNode& model) {
    lacking(file, model, "saved file", "reference model", "", true);
    lacking(model, file, "reference model", "saved file", "", false);
    const int64_t errors = result_.error_count, matches = result_.match_count;
    result_.status = errors == 0 ? "success" : "error";
    result_.report += "─────────────────────\n";
    if (errors == 0)
      result_.report +=
          text("Comparison successful: saved file is compatible with the reference model\n",
               "    Found ", matches, " matching weight", matches == 1 ? "" : "s", '\n');
    else
      result_.report += text("Found ", errors, " error", errors == 1 ? "" : "s",
                             ": saved file is not compatible with the reference model\n");
  }

 private:
  void lacking(const WeightNode& target, const WeightNode& other, std::string_view target_name,
               std::string_view other_name, const std::string& path, bool shapes) {
    for (const auto& [name, weight] : other.weights) {
      const std::string at = text(path, '/', name);
      const auto found = target.weights.find(name);
      if (found == target.weights.end())
        note("...Weight ", at, " present in ", other_name, ", missing from ", target_name);
      else if (shapes && found->second.shape() != weight.shape())
        note("...Weight shape mismatch for ", at, "\n    In ", other_name,
             ": shape=", keras_shape(weight.shape()), "\n    In ", target_name,
             ": shape=", keras_shape(found->second.shape()));
      else if (shapes)
        ++result_.match_count;
    }
    for (const auto& [name, child] : other.children) {
      if (child->empty()) continue;
      const std::string at = text(path, '/', name);
      const WeightNode* found = target.child(name);
      if (found != nullptr && !found->empty()) {
        lacking(*found, *child, target_name, other_name, at, shapes);
        continue;
      }
      std::string keys;
      for (const std::string& key : child->keys())
        keys += (keys.empty() ? "'" : ", '") + key + '\'';
      note("...Object ", at, " present in ", other_name, ", missing from ", target_name,
           "\n    In ", other_name, ", ", at, " contains the following keys: [", keys, ']');
    }
  }

  template <class... Parts>
  void note(const Parts&... parts) {
    ++result_.error_count;
    result_.report += text(parts..., '\n');
  }

  KerasFileEditor::Comparison& result_;
};

}  // namespace

struct KerasFileEditor::File {
  std::string name;
  Json config, metadata;
  std::optional<files::ZipReader> zip;  // of a .keras
  WeightNode root;
};

KerasFileEditor::KerasFileEditor(const std::filesystem::path& path)
    : file_(std::make_unique<File>()) {
  require(std::filesystem::exists(path), "File not found: filepath=", path.string());
  const io::FileKind kind = io::kind_of(path);
  require(kind == io::FileKind::keras || kind == io::FileKind::weights_h5,
          "Invalid filename: expected a `.keras` `.weights.h5` extension. Received: filepath=",
          path.string());
  file_->name = path.string();
  files::FileView weights = files::map_file(path);
  if (kind == io::FileKind::keras) {
    file_->zip.emplace(weights);
    weights = file_->zip->read(weights_member);
    if (file_->zip->find("config.json") != nullptr)
      file_->config = json_member(*file_->zip, "config.json");
    if (file_->zip->find("metadata.json") != nullptr)
      file_->metadata = json_member(*file_->zip, "metadata.json");
  }
  file_->root = weight_tree(hdf5::File(weights).root(), weights.name());
}

KerasFileEditor::~KerasFileEditor() = default;
KerasFileEditor::KerasFileEditor(KerasFileEditor&& other) noexcept = default;
KerasFileEditor& KerasFileEditor::operator=(KerasFileEditor&& other) noexcept = default;

const Json& KerasFileEditor::config() const { return file_->config; }
const Json& KerasFileEditor::metadata() const { return file_->metadata; }

std::vector<std::string> KerasFileEditor::objects() const {
  std::vector<std::string> paths;
  list_objects(file_->root, "", paths);
  return paths;
}

KerasFileEditor::Weights KerasFileEditor::weights(const std::string& object) const {
  Weights out;
  for (const auto& [name, weight] : find_object(file_->root, object).weights)
    out.emplace(name, weight.value().clone());
  return out;
}

void KerasFileEditor::summary() const { summary(std::cout); }

void KerasFileEditor::summary(std::ostream& out) const {
  out << "Keras model file '" << file_->name << "'\n";
  const Json& about = file_->metadata;
  const Json* version = about.is_object() ? about.find("keras_version") : nullptr;
  const Json* date = about.is_object() ? about.find("date_saved") : nullptr;
  if (version != nullptr && version->is_string() && date != nullptr && date->is_string())
    out << "Saved with Keras " << version->as_string() << " - date: " << date->as_string() << '\n';
  out << "Weights structure\n";
  Printer(out).print(file_->root, "  ");
}

KerasFileEditor::Comparison KerasFileEditor::compare(const Model& reference) const {
  const bool with_optimizer = reference.compiled() && (reference.optimizer().built() ||
                                                       file_->root.child("optimizer") != nullptr);
  const WeightNode model = weight_tree(
      io::saved_objects(*reference.layer(), with_optimizer ? &reference.optimizer() : nullptr));
  Comparison result;
  Comparer(result).run(file_->root, model);
  return result;
}

void KerasFileEditor::rename_object(const std::string& object, const std::string& new_name) {
  require(new_name.find('/') == new_name.npos,
          "Argument `target_name` should be a leaf name, not a full path name. Received: "
          "target_name='",
          new_name, '\'');
  check_name(new_name, "rename_object");
  const auto [parent, name] = find_place(file_->root, object);
  if (name == new_name) return;
  require(parent->child(new_name) == nullptr && !parent->weights.contains(new_name),
          "rename_object: there is a '", new_name, "' beside '", object, "' already");
  if (WeightNode* child = parent->child(name); child != nullptr) {
    for (auto& item : parent->children)
      if (item.second.get() == child) item.first = new_name;
    return;
  }
  auto weight = parent->weights.extract(name);
  weight.key() = new_name;
  parent->weights.insert(std::move(weight));
}

void KerasFileEditor::delete_object(const std::string& object) {
  const auto [parent, name] = find_place(file_->root, object);
  if (parent->weights.erase(name) > 0) return;
  std::erase_if(parent->children, [n = name](const auto& item) { return item.first == n; });
}

void KerasFileEditor::add_object(const std::string& path, const Weights& weights) {
  const size_t slash = path.rfind('/');
  const std::string name = slash == path.npos ? path : path.substr(slash + 1);
  check_name(name, "add_object");
  WeightNode* parent = &file_->root;
  for (size_t begin = 0; slash != path.npos && begin <= slash;) {
    const size_t end = path.find('/', begin);
    parent = parent->child(path.substr(begin, end - begin));
    require(parent != nullptr, "Path '", path.substr(0, slash), "' not found in model.");
    begin = end + 1;
  }
  require(!parent->weights.contains(name), "add_object: '", path, "' is a weight");
  WeightNode made;
  set_weights(made, weights, "add_object");
  parent->make_child(name) = std::move(made);
}

void KerasFileEditor::delete_weight(const std::string& object, const std::string& weight) {
  WeightNode& node = find_object(file_->root, object);
  std::string known;
  for (const auto& item : node.weights) known += (known.empty() ? "'" : ", '") + item.first + '\'';
  require(node.weights.erase(weight) > 0, "Weight ", weight, " not found in object ", object,
          ". Weights found: [", known, ']');
}

void KerasFileEditor::add_weights(const std::string& object, const Weights& weights) {
  set_weights(find_object(file_->root, object), weights, "add_weights");
}

void KerasFileEditor::save(const std::filesystem::path& path) const {
  const bool whole = path.extension() == ".keras";
  require(whole || ends_in_weights(path),
          "Invalid `filepath` argument: expected a `.weights.h5` or `.keras` extension. Received: "
          "filepath=",
          path.string());
  require(
      !whole || file_->zip, "save: ", file_->name,
      " has weights alone; a .keras needs the config of a model too, got filepath=", path.string());
  hdf5::Writer weights;
  write_weight_tree(file_->root, "", weights.root());
  if (!whole) return weights.save(path);
  files::ZipWriter zip(path, 64);
  for (const files::ZipEntry& entry : file_->zip->entries()) {
    if (entry.name == weights_member)
      weights.write(zip.begin(entry.name));
    else
      zip.add(entry.name, file_->zip->read(entry).bytes());
  }
  zip.commit();
}

}  // namespace keratin

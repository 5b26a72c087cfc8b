#include "keratin/files/safetensors.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

#include "keratin/base/json.h"
#include "keratin/base/text.h"

namespace keratin::files {
namespace {

constexpr uint64_t max_header = uint64_t{100} << 20;  // the limit of the reference implementation
constexpr std::string_view metadata_key = "__metadata__";

struct DTypeName {
  std::string_view name;
  DType dtype;
};
constexpr std::array<DTypeName, 9> dtype_names = {{{"F64", DType::f64},
                                                   {"F32", DType::f32},
                                                   {"F16", DType::f16},
                                                   {"BF16", DType::bf16},
                                                   {"I8", DType::i8},
                                                   {"U8", DType::u8},
                                                   {"I32", DType::i32},
                                                   {"I64", DType::i64},
                                                   {"BOOL", DType::boolean}}};

struct Entry {
  std::string name;
  DType dtype = DType::f32;
  Shape shape;
  uint64_t begin = 0, end = 0;  // from the end of the header
};

class Parser {
 public:
  explicit Parser(const FileView& file) : file_(file) {}

  Safetensors run() {
    const Json header = parse_header();
    check(header.is_object(), "expected an object as header");
    Safetensors out;
    std::vector<Entry> entries;
    for (const auto& [name, value] : header.as_object()) {
      if (name == metadata_key)
        out.metadata = parse_metadata(value);
      else
        entries.push_back(parse_entry(name, value));
    }
    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
      return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
    });
    check_offsets(entries);
    for (const Entry& entry : entries) out.tensors.emplace_back(entry.name, tensor_of(entry));
    return out;
  }

 private:
  template <class... Parts>
  [[noreturn]] void refuse(const Parts&... parts) const {
    fail(file_.name(), ": ", parts...);
  }
  template <class... Parts>
  void check(bool condition, const Parts&... parts) const {
    if (!condition) refuse(parts...);
  }

  Json parse_header() {
    check(file_.size() >= 8, "expected a safetensors file, got ", file_.size(), " bytes");
    Cursor at(file_.bytes(), file_.name(), "the header");
    const uint64_t size = at.u64();
    check(size <= max_header, "the header claims ", size, " bytes, at most ", max_header,
          " are read");
    const std::string_view header = as_text(at.take(size));
    data_ = at.at();
    try {
      // A JSON value of a tensor's entry takes at least 4 bytes.
      return Json::parse(header, {.depth = 8, .values = 16 + header.size() / 4});
    } catch (const UserError& error) {
      refuse("the header is not JSON: ", error.what());
    }
  }

  std::vector<std::pair<std::string, std::string>> parse_metadata(const Json& json) const {
    check(json.is_object(), "expected an object as ", metadata_key);
    std::vector<std::pair<std::string, std::string>> out;
    for (const auto& [key, value] : json.as_object()) {
      if (!value.is_string()) refuse("expected a string as ", in_quotes(key), " of ", metadata_key);
      out.emplace_back(key, value.as_string());
    }
    return out;
  }

  Entry parse_entry(const std::string& name, const Json& json) const {
    const auto sound = json.is_object() && json.as_object().size() == 3 && json.contains("dtype") &&
                       json.at("dtype").is_string() && json.contains("shape") &&
                       json.at("shape").is_array() && json.contains("data_offsets") &&
                       json.at("data_offsets").is_array() && json.at("data_offsets").size() == 2;
    if (!sound) refuse(in_quotes(name), " needs a dtype, a shape and two data_offsets");
    const std::string& dtype = json.at("dtype").as_string();
    const auto known = std::find_if(dtype_names.begin(), dtype_names.end(),
                                    [&](const DTypeName& d) { return d.name == dtype; });
    if (known == dtype_names.end())
      refuse(in_quotes(name), " has the dtype ", in_quotes(dtype), ", which is not read");
    Entry entry{.name = name, .dtype = known->dtype};
    entry.shape = parse_shape(name, json.at("shape"));
    entry.begin = parse_number(name, json.at("data_offsets")[0]);
    entry.end = parse_number(name, json.at("data_offsets")[1]);
    const auto bytes = static_cast<uint64_t>(entry.shape.count()) * size_of(entry.dtype);
    if (entry.begin > entry.end || entry.end - entry.begin != bytes)
      refuse(in_quotes(name), " has the data_offsets ", entry.begin, " and ", entry.end,
             ", but needs ", bytes, " bytes");
    return entry;
  }

  uint64_t parse_number(const std::string& name, const Json& json) const {
    if (!json.is_int() || json.as_int() < 0)
      refuse(in_quotes(name), " has a size or an offset that is not an integer from 0 on");
    return static_cast<uint64_t>(json.as_int());
  }

  Shape parse_shape(const std::string& name, const Json& json) const {
    if (json.size() > max_rank)
      refuse(in_quotes(name), " has ", json.size(), " dimensions, at most ", max_rank, " are read");
    Dims dims;
    uint64_t product = 1;
    for (const Json& dim : json.as_array()) {
      dims.push_back(static_cast<int64_t>(parse_number(name, dim)));
      const auto size = static_cast<uint64_t>(std::max<int64_t>(dims.back(), 1));
      if (__builtin_mul_overflow(product, size, &product) || product >= uint64_t{1} << 48)
        refuse(in_quotes(name), " has more elements than a tensor can have");
    }
    return Shape(dims);
  }

  void check_offsets(const std::vector<Entry>& entries) const {
    uint64_t end = 0;
    for (const Entry& entry : entries) {
      if (entry.begin != end)
        refuse(in_quotes(entry.name), " begins at ", entry.begin,
               ", but the tensor before it ends at ", end);
      end = entry.end;
    }
    check(end == file_.size() - data_, "the tensors have ", end, " bytes, but the file has ",
          file_.size() - data_);
  }

  Tensor tensor_of(const Entry& entry) const {
    Tensor tensor = file_.tensor(data_ + entry.begin, entry.dtype, entry.shape);
    if (entry.dtype != DType::boolean) return tensor;
    const auto* bytes = static_cast<const uint8_t*>(tensor.raw());
    if (std::any_of(bytes, bytes + tensor.bytes(), [](uint8_t b) { return b > 1; }))
      refuse(in_quotes(entry.name), " has a bool that is neither 0 nor 1");
    return tensor;
  }

  const FileView& file_;
  uint64_t data_ = 0;
};

std::string make_header(const std::vector<const std::pair<std::string, Tensor>*>& order,
                        const Safetensors& contents) {
  Json header = Json::object();
  if (!contents.metadata.empty()) {
    Json metadata = Json::object();
    for (const auto& [key, value] : contents.metadata) metadata[key] = value;
    header[metadata_key] = metadata;
  }
  uint64_t end = 0;
  Json::Object members = header.as_object();
  for (const auto* item : order) {
    const Tensor& tensor = item->second;
    const auto named = std::find_if(dtype_names.begin(), dtype_names.end(),
                                    [&](const DTypeName& d) { return d.dtype == tensor.dtype(); });
    Json entry = Json::object(), shape = Json::array(), offsets = Json::array();
    for (const int64_t dim : tensor.shape()) shape.push_back(dim);
    offsets.push_back(static_cast<int64_t>(end));
    end += tensor.bytes();
    offsets.push_back(static_cast<int64_t>(end));
    entry["dtype"] = named->name;
    entry["shape"] = shape;
    entry["data_offsets"] = offsets;
    members.emplace_back(item->first, entry);
  }
  std::string text = Json(std::move(members)).dump();
  text.append((8 - text.size() % 8) % 8, ' ');
  return text;
}

}  // namespace

const Tensor* Safetensors::find(std::string_view name) const {
  for (const auto& [key, tensor] : tensors)
    if (key == name) return &tensor;
  return nullptr;
}

Safetensors read_safetensors(const FileView& file) { return Parser(file).run(); }

void write_safetensors(Sink& sink, const Safetensors& contents) {
  std::vector<const std::pair<std::string, Tensor>*> order;
  std::set<std::string_view> seen;
  for (const auto& item : contents.tensors) {
    require(item.first != metadata_key && seen.insert(item.first).second, "safetensors: the name ",
            in_quotes(item.first), " is taken");
    order.push_back(&item);
  }
  std::sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
    const size_t size_a = size_of(a->second.dtype()), size_b = size_of(b->second.dtype());
    return size_a != size_b ? size_a > size_b : a->first < b->first;
  });
  const std::string header = make_header(order, contents);
  sink.write(as_bytes(Packer().u64(header.size()).bytes()));
  sink.write(as_bytes(header));
  for (const auto* item : order) sink.write({item->second.buffer().data(), item->second.bytes()});
}

void write_safetensors(const std::filesystem::path& path, const Safetensors& contents) {
  AtomicFile file(path);
  write_safetensors(file, contents);
  file.commit();
}

}  // namespace keratin::files

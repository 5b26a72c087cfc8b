#include "keratin/backend/cuda/driver/graph.h"

namespace keratin::cuda {

namespace {

// Ends the capture of a stream at the end of a scope.
class Capture {
 public:
  explicit Capture(StreamHandle stream) : stream_(stream) {
    check(driver().begin_capture(stream, Driver::capture_thread_local), "cuStreamBeginCapture");
  }
  ~Capture() {
    if (open_) end();
    if (graph_ != nullptr) driver().destroy_graph(graph_);
  }
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  GraphHandle end() {
    open_ = false;
    return driver().end_capture(stream_, &graph_) == 0 ? graph_ : nullptr;
  }

 private:
  const StreamHandle stream_;
  bool open_ = true;
  GraphHandle graph_ = nullptr;
};

}  // namespace

GraphExecHandle record_graph(StreamHandle stream, const std::function<void()>& launches) {
  Capture capture(stream);
  launches();
  GraphHandle graph = capture.end();
  GraphExecHandle made = nullptr;
  if (graph == nullptr || driver().instantiate(&made, graph, 0) != 0) return nullptr;
  return made;
}

}  // namespace keratin::cuda

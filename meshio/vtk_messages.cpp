#include "meshio/vtk_messages.h"

#include <vtkAlgorithm.h>
#include <vtkExecutive.h>
#include <vtkObject.h>
#include <vtkOutputWindow.h>
#include <vtk_loguru.h>

#include <iostream>
#include <mutex>
#include <sstream>

namespace funcattn {

namespace {

thread_local VtkMessages* collector = nullptr;

/// "ERROR: In file, line n\nvtkSomething (0x1234): Text \n\n" -> "Text".
std::string without_position(const std::string& message) {
  std::string text = message;
  if (text.rfind("ERROR: In ", 0) == 0 || text.rfind("Warning: In ", 0) == 0 ||
      text.rfind("Generic Warning: In ", 0) == 0) {
    const auto line_end = text.find('\n');
    if (line_end != std::string::npos) text.erase(0, line_end + 1);
    const auto address = text.find("): ");
    if (text.rfind("vtk", 0) == 0 && address != std::string::npos) text.erase(0, address + 3);
  }
  std::istringstream words(text);
  std::string joined;
  for (std::string word; words >> word;) joined += (joined.empty() ? "" : " ") + word;
  return joined;
}

/// Sends the text of threads that collect to their collector and all other text to the window that
/// stood here before, unless the host had switched the display off.
class CollectingWindow : public vtkOutputWindow {
 public:
  static CollectingWindow* New() {
    auto* window = new CollectingWindow;
    window->InitializeObjectBase();
    return window;
  }
  vtkTypeMacro(CollectingWindow, vtkOutputWindow)

  void DisplayErrorText(const char* text) override {
    if (collector)
      collector->add_error(text);
    else
      forward(text, &vtkOutputWindow::DisplayErrorText);
  }
  void DisplayWarningText(const char* text) override {
    if (!collector) forward(text, &vtkOutputWindow::DisplayWarningText);
  }
  // The helpers of VTK's readers report short data only in this way.
  void DisplayGenericWarningText(const char* text) override {
    if (collector)
      collector->add_error(text);
    else
      forward(text, &vtkOutputWindow::DisplayGenericWarningText);
  }
  void DisplayDebugText(const char* text) override {
    if (!collector) forward(text, &vtkOutputWindow::DisplayDebugText);
  }
  void DisplayText(const char* text) override {
    if (!collector) forward(text, &vtkOutputWindow::DisplayText);
  }

  void stand_before(vtkOutputWindow* previous, bool display) {
    previous_ = previous;
    display_ = display;
  }
  vtkOutputWindow* previous() const { return previous_; }
  bool display() const { return display_; }

 private:
  // VTK's own window leaves standard error to the logger, which is silent now.
  void forward(const char* text, void (vtkOutputWindow::*show)(const char*)) {
    if (!display_) return;
    if (std::string(previous_->GetClassName()) == "vtkOutputWindow")
      std::cerr << text << std::endl;
    else
      (previous_.GetPointer()->*show)(text);
  }

  vtkSmartPointer<vtkOutputWindow> previous_;
  bool display_ = true;
};

class CollectingObserver : public vtkCommand {
 public:
  static CollectingObserver* New() { return new CollectingObserver; }
  void Execute(vtkObject*, unsigned long event, void* data) override {
    if (messages && event == vtkCommand::ErrorEvent)
      messages->add_error(data ? static_cast<const char*>(data) : "unknown error");
  }
  VtkMessages* messages = nullptr;
};

std::mutex window_mutex;
int window_users = 0;
vtkSmartPointer<CollectingWindow> window;
vtkloguru::Verbosity host_verbosity = 0;

}  // namespace

VtkMessages::VtkMessages() : outer_(collector) {
  const auto observer = vtkSmartPointer<CollectingObserver>::New();
  observer->messages = this;
  observer_ = observer;
  const std::lock_guard<std::mutex> lock(window_mutex);
  if (window_users++ == 0) {
    window = vtkSmartPointer<CollectingWindow>::New();
    window->stand_before(vtkOutputWindow::GetInstance(), vtkObject::GetGlobalWarningDisplay() != 0);
    vtkOutputWindow::SetInstance(window);
    vtkObject::GlobalWarningDisplayOn();
    // Objects that nobody can observe, inside VTK's readers, log what they also tell the window.
    host_verbosity = vtkloguru::g_stderr_verbosity;
    if (host_verbosity > vtkloguru::Verbosity_FATAL)
      vtkloguru::g_stderr_verbosity = vtkloguru::Verbosity_FATAL;
  }
  collector = this;
}

VtkMessages::~VtkMessages() {
  static_cast<CollectingObserver*>(observer_.GetPointer())->messages = nullptr;
  collector = outer_;
  const std::lock_guard<std::mutex> lock(window_mutex);
  if (--window_users == 0) {
    vtkOutputWindow::SetInstance(window->previous());
    vtkObject::SetGlobalWarningDisplay(window->display() ? 1 : 0);
    window = nullptr;
    vtkloguru::g_stderr_verbosity = host_verbosity;
  }
}

void VtkMessages::observe(vtkObject* object) const {
  if (auto* algorithm = vtkAlgorithm::SafeDownCast(object)) observe(algorithm->GetExecutive());
  object->AddObserver(vtkCommand::ErrorEvent, observer_);
  object->AddObserver(vtkCommand::WarningEvent, observer_);
}

void VtkMessages::add_error(const std::string& text) {
  errors_.push_back(without_position(text));
}

}  // namespace funcattn

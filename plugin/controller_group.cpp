#include "plugin/controller_group.h"

#include <vtkCommunicator.h>
#include <vtkMultiProcessController.h>

#include <numeric>

#include "core/error.h"

namespace funcattn {

namespace {

constexpr int exchange_tag = 7411;

class ControllerGroup : public ProcessGroup {
 public:
  explicit ControllerGroup(vtkMultiProcessController* controller) : controller_(controller) {}
  int rank() const override { return controller_->GetLocalProcessId(); }
  int size() const override { return controller_->GetNumberOfProcesses(); }

 protected:
  void sum_all(double* values, std::size_t count) override {
    reduce(values, count, vtkCommunicator::SUM_OP);
  }
  void sum_all(std::int64_t* values, std::size_t count) override {
    reduce(values, count, vtkCommunicator::SUM_OP);
  }
  void maximum_all(double* values, std::size_t count) override {
    reduce(values, count, vtkCommunicator::MAX_OP);
  }

  std::vector<std::string> gather_all(const std::string& mine) override {
    const std::vector<vtkIdType> lengths = gather_numbers({static_cast<vtkIdType>(mine.size())});
    std::vector<vtkIdType> offsets(lengths.size(), 0);
    std::partial_sum(lengths.begin(), lengths.end() - 1, offsets.begin() + 1);
    std::string all(static_cast<std::size_t>(offsets.back() + lengths.back()), '\0');
    if (!all.empty())
      check(controller_->AllGatherV(mine.data(), all.data(), static_cast<vtkIdType>(mine.size()),
                                    const_cast<vtkIdType*>(lengths.data()), offsets.data()));
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < lengths.size(); ++i)
      texts.push_back(
          all.substr(static_cast<std::size_t>(offsets[i]), static_cast<std::size_t>(lengths[i])));
    return texts;
  }

  std::vector<std::string> exchange_all(const std::vector<std::string>& to_each) override {
    const int processes = size();
    const int me = rank();
    std::vector<vtkIdType> mine;
    for (const std::string& text : to_each) mine.push_back(static_cast<vtkIdType>(text.size()));
    const std::vector<vtkIdType> lengths = gather_numbers(mine);  // [from][to]
    std::vector<std::string> received(to_each.size());
    received[static_cast<std::size_t>(me)] = to_each[static_cast<std::size_t>(me)];
    for (int step = 1; step < processes; ++step) {
      const int to = (me + step) % processes;
      const int from = (me - step + processes) % processes;
      const auto send = [&] {
        const std::string& text = to_each[static_cast<std::size_t>(to)];
        if (!text.empty())
          check(controller_->Send(text.data(), static_cast<vtkIdType>(text.size()), to,
                                  exchange_tag));
      };
      const auto receive = [&] {
        std::string& text = received[static_cast<std::size_t>(from)];
        text.resize(
            static_cast<std::size_t>(lengths[static_cast<std::size_t>(from * processes + me)]));
        if (!text.empty())
          check(controller_->Receive(text.data(), static_cast<vtkIdType>(text.size()), from,
                                     exchange_tag));
      };
      // Each step goes round in as many rings as the divisor says; one of each ring receives first,
      // so that no ring waits for itself.
      if (me < std::gcd(processes, step)) {
        receive();
        send();
      } else {
        send();
        receive();
      }
    }
    return received;
  }

 private:
  static void check(int succeeded) {
    if (succeeded == 0)
      throw Error("the exchange with the other processes failed; see the messages of MPI");
  }

  template <class T>
  void reduce(T* values, std::size_t count, int operation) {
    const std::vector<T> mine(values, values + count);
    if (count > 0)
      check(controller_->AllReduce(mine.data(), values, static_cast<vtkIdType>(count), operation));
  }

  std::vector<vtkIdType> gather_numbers(const std::vector<vtkIdType>& mine) {
    std::vector<vtkIdType> all(mine.size() * static_cast<std::size_t>(size()));
    check(controller_->AllGather(mine.data(), all.data(), static_cast<vtkIdType>(mine.size())));
    return all;
  }

  vtkMultiProcessController* controller_;
};

}  // namespace

std::unique_ptr<ProcessGroup> group_of(vtkMultiProcessController* controller) {
  if (!controller || controller->GetNumberOfProcesses() < 2) return nullptr;
  return std::make_unique<ControllerGroup>(controller);
}

}  // namespace funcattn

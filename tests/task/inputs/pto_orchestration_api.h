// A stand-in for PTO's run-time API that records what is submitted, so that printed programs can be compiled and run.
#pragma once
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

enum class DataType { FLOAT32, FLOAT16, BFLOAT16, INT8, UINT8, INT16, UINT16, INT32, UINT32, INT64, UINT64 };
enum class PTO2ScopeMode { AUTO, MANUAL };

struct PTO2TaskId {
    int64_t number = -1;
    static PTO2TaskId invalid() { return PTO2TaskId{}; }
    bool is_valid() const { return number >= 0; }
};

struct Tensor {
    std::string name;
    uint32_t shapes[8] = {};
    Tensor view(const uint32_t *sizes, const uint32_t *offsets) const {
        Tensor result = *this;
        result.name += "[" + std::to_string(offsets[0]) + ":+" + std::to_string(sizes[0]) + "]";
        return result;
    }
    Tensor reshape(const uint32_t *, uint32_t) const { return *this; }
};

struct Arg {
    std::string text;
    void add(const char *how, const Tensor &tensor) { text += std::string(" ") + how + "(" + tensor.name + ")"; }
    void add_input(const Tensor &tensor) { add("input", tensor); }
    void add_output(const Tensor &tensor) { add("output", tensor); }
    void add_inout(const Tensor &tensor) { add("inout", tensor); }
    void add_no_dep(const Tensor &tensor) { add("no_dep", tensor); }
    template <typename T>
    void add_scalar(T value) {
        text += " scalar(" + std::to_string(value) + ")";
    }
    void set_allow_early_resolve(bool) { text += " early"; }
    void set_dependencies(const PTO2TaskId *ids, uint32_t count) {
        text += " after(";
        for (uint32_t i = 0; i < count; ++i) text += (i ? " " : "") + std::to_string(ids[i].number);
        text += ")";
    }
};

struct TaskOutputTensors {
    int64_t number;
    PTO2TaskId task_id() const { return PTO2TaskId{number}; }
    Tensor get_ref(int index) const { return Tensor{"new" + std::to_string(number) + "." + std::to_string(index)}; }
};

inline int64_t next_task = 0;

inline TaskOutputTensors rt_submit_aiv_task(int32_t kernel, const Arg &arg) {
    std::printf("%lld: kernel %d%s\n", (long long)next_task, kernel, arg.text.c_str());
    return TaskOutputTensors{next_task++};
}
inline TaskOutputTensors rt_submit_dummy_task(const Arg &arg) {
    std::printf("%lld: barrier%s\n", (long long)next_task, arg.text.c_str());
    return TaskOutputTensors{next_task++};
}

struct TensorCreateInfo {
    TensorCreateInfo(const uint32_t *, uint32_t, DataType) {}
};
inline TaskOutputTensors alloc_tensors(const TensorCreateInfo &) { return TaskOutputTensors{1000}; }

struct ChipStorageTaskArgs {
    std::vector<uint64_t> scalars;
    int tensor(int index) const { return index; }
    uint64_t scalar(int index) const { return scalars.at(index); }
};
inline Tensor from_tensor_arg(int index) { return Tensor{"arg" + std::to_string(index)}; }
template <typename T>
T from_u64(uint64_t bits) {
    T value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}
template <typename T>
T get_tensor_data(const Tensor &, uint32_t, const uint32_t *) {
    return T{};
}

struct Scope {
    explicit Scope(PTO2ScopeMode mode = PTO2ScopeMode::AUTO) {
        std::printf("{ %s\n", mode == PTO2ScopeMode::MANUAL ? "manual" : "auto");
    }
    ~Scope() { std::printf("}\n"); }
};
#define PTO2_SCOPE(...) if (Scope scope_guard{__VA_ARGS__}; true)

// A series cleaned in C++: memory of one's own, and errors as exceptions.
#include <cmath>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <vector>

#include "kgard.h"
#include "plan.h"

namespace {

void check(kgard_error error) {
    if (error != KGARD_OK) {
        throw std::runtime_error(kgard_error_text(error));
    }
}

class Stream {
public:
    explicit Stream(const kgard_stream_settings &settings)
        : memory(new std::uint64_t[(KGARD_STREAM_MATERN52_LAG32 + 7) / 8]) {
        check(kgard_stream_matern52_lag32(memory.get(), KGARD_STREAM_MATERN52_LAG32, &settings,
                                          &stream));
    }
    kgard_sample push(float sample) {
        kgard_sample out;
        check(kgard_stream_push(stream, sample, &out));
        return out;
    }

private:
    std::unique_ptr<std::uint64_t[]> memory;
    kgard_stream *stream = nullptr;
};

class Fit {
public:
    Fit(const kgard_plan &plan, const std::vector<float> &y, std::size_t cap)
        : fitted(y.size()), outliers(cap) {
        std::vector<float> scalars(KGARD_FIT_SCALARS(y.size(), cap));
        kgard_fit_memory memory = {scalars.data(), scalars.size(), outliers.data(), cap};
        kgard_fit_result result;
        check(kgard_fit(&plan, y.data(), y.size(), &memory, fitted.data(), &result));
        outliers.resize(result.outliers);
    }
    std::vector<float> fitted;
    std::vector<std::size_t> outliers;
};

} // namespace

int main() {
    kgard_plan plan;
    check(kgard_plan_open(&plan, plan_data, PLAN_BYTES));
    std::vector<float> y;
    for (int i = 0; i < PLAN_N; i++) {
        y.push_back(std::sin(0.1f * float(i)) + 0.01f * float(i * i % 7 - 3));
    }
    y[20] += 2.0f;
    Fit fit(plan, y, 8);
    bool is_found = fit.outliers.size() == 1 && fit.outliers[0] == 20;
    std::printf("regression: %zu outliers\n", fit.outliers.size());

    kgard_stream_settings settings = {};
    settings.length = 20.0f;
    settings.lambda = 0.001f;
    settings.noise = 0.02f;
    Stream stream(settings);
    int spikes = 0;
    for (int i = 0; i < 600; i++) {
        float sample = std::sin(0.05f * float(i)) + 0.01f * float(i * i % 7 - 3);
        spikes += stream.push(i % 100 == 50 ? sample + 1.0f : sample).outlier;
    }
    std::printf("stream: %d spikes\n", spikes);

    bool is_refused = false;
    try {
        y[5] = NAN;
        Fit refused(plan, y, 8);
    } catch (const std::runtime_error &error) {
        std::printf("refused: %s\n", error.what());
        is_refused = true;
    }
    return is_found && spikes == 6 && is_refused ? 0 : 1;
}

/* Regression on a plan, and a stream: the same program on a computer and on a microcontroller.

   kgard plan grid.csv --sigma 0.25 --lambda 0.125 --regularizer rkhs -o plan.h */
#include "console.h"
#include "kgard.h"
#include "plan.h"

/* Outliers at most. */
#define CAP 8
/* Samples of the stream. */
#define SAMPLES 400

static float scalars[KGARD_FIT_SCALARS(PLAN_N, CAP)];
static size_t indices[CAP];
static KGARD_STREAM_MEMORY(memory, KGARD_STREAM_MATERN32_LAG16);

/* Numbers from -1 to 1, the same everywhere. */
static float noise(uint32_t *state) {
    *state = *state * 1664525u + 1013904223u;
    return (float)(*state >> 16) / 32768.0f - 1.0f;
}

static int failed(const char *what, kgard_error error) {
    say(what);
    say(": ");
    say(kgard_error_text(error));
    say("\n");
    return 1;
}

/* A window of samples at the points of the plan: a bump, noise and four spikes. */
static int regression(void) {
    static const size_t spikes[] = {5, 17, 26, 38};
    static const float sizes[] = {1.5f, -2.0f, 1.0f, 2.5f};
    float y[PLAN_N], fitted[PLAN_N];
    kgard_plan plan;
    kgard_fit_memory work = {scalars, sizeof scalars / sizeof *scalars, indices, CAP};
    kgard_fit_result result;
    kgard_error error;
    uint32_t state = 1;
    size_t i;

    for (i = 0; i < PLAN_N; i++) {
        float x = (float)i / PLAN_N, arch = x * (1.0f - x);
        y[i] = 16.0f * arch * arch + 0.05f * noise(&state);
    }
    for (i = 0; i < 4; i++) {
        y[spikes[i]] += sizes[i];
    }

    error = kgard_plan_open(&plan, plan_data, PLAN_BYTES);
    if (error != KGARD_OK) {
        return failed("plan", error);
    }
    error = kgard_fit(&plan, y, PLAN_N, &work, fitted, &result);
    if (error != KGARD_OK) {
        return failed("fit", error);
    }
    say("outliers:");
    for (i = 0; i < result.outliers; i++) {
        size_t at = indices[i];
        say(" ");
        say_number((long)at);
        say(" off by ");
        say_number((long)((y[at] - fitted[at]) * 100.0f));
        say(" %");
    }
    say("\n");
    return result.reason == KGARD_RULE_MET ? 0 : failed("fit", KGARD_DEFECT);
}

/* Samples that come one by one: a slow wave, noise, spikes, and a step. */
static int stream(void) {
    kgard_stream_settings settings = {0};
    kgard_stream *stream;
    kgard_sample out;
    kgard_error error;
    uint32_t state = 1;
    long at = 0;
    int i;

    settings.length = 30.0f;
    settings.lambda = 0.01f;
    settings.noise = 0.03f;
    error = kgard_stream_matern32_lag16(memory, sizeof memory, &settings, &stream);
    if (error != KGARD_OK) {
        return failed("stream", error);
    }
    say("stream:");
    for (i = 0; i < SAMPLES + 16; i++) {
        float phase = (float)(i % 200) / 200.0f, wave = phase * (1.0f - phase);
        float sample = 16.0f * wave * wave + 0.05f * noise(&state);
        sample += i < SAMPLES / 2 ? 20.0f : 23.0f;
        sample += i % 50 == 30 ? 1.0f : 0.0f;
        error = i < SAMPLES ? kgard_stream_push(stream, sample, &out)
                            : kgard_stream_drain(stream, &out);
        if (error != KGARD_OK) {
            return failed("stream", error);
        }
        if (out.present) {
            if (out.outlier || out.step) {
                say(out.outlier ? " spike " : " step ");
                say_number(at);
            }
            at++;
        }
    }
    say("\n");
    return at == SAMPLES ? 0 : failed("stream", KGARD_DEFECT);
}

/* What is wrong is said, and nothing is touched. */
static int mistakes(void) {
    kgard_plan plan = {{0}};
    kgard_fit_memory work = {scalars, 10, indices, CAP};
    kgard_fit_result result;
    kgard_stream_settings settings = {0};
    kgard_stream *stream;
    float y[PLAN_N] = {0};
    uint64_t damaged[sizeof plan_data / sizeof *plan_data];
    size_t i;

#define EXPECT(code, call)                                                                       \
    do {                                                                                         \
        kgard_error error = (call);                                                              \
        if (error != (code)) {                                                                   \
            return failed(#call, error);                                                         \
        }                                                                                        \
    } while (0)
    EXPECT(KGARD_NULL, kgard_plan_open(NULL, plan_data, PLAN_BYTES));
    EXPECT(KGARD_NULL, kgard_plan_open(&plan, NULL, PLAN_BYTES));
    EXPECT(KGARD_HANDLE, kgard_fit(&plan, y, PLAN_N, &work, NULL, &result));
    EXPECT(KGARD_FORMAT, kgard_plan_open(&plan, plan_data, PLAN_BYTES - 8));
    EXPECT(KGARD_ALIGNMENT, kgard_plan_open((kgard_plan *)((char *)&plan + 1), plan_data, PLAN_BYTES));
    for (i = 0; i < sizeof plan_data / sizeof *plan_data; i++) {
        damaged[i] = plan_data[i] ^ (i == 100);
    }
    EXPECT(KGARD_FORMAT, kgard_plan_open(&plan, damaged, PLAN_BYTES));
    EXPECT(KGARD_HANDLE, kgard_fit(&plan, y, PLAN_N, &work, NULL, &result));
    EXPECT(KGARD_OK, kgard_plan_open(&plan, plan_data, PLAN_BYTES));
    EXPECT(KGARD_NULL, kgard_fit(&plan, NULL, PLAN_N, &work, NULL, &result));
    EXPECT(KGARD_MEMORY, kgard_fit(&plan, y, PLAN_N, &work, NULL, &result));
    work.scalars_len = sizeof scalars / sizeof *scalars;
    EXPECT(KGARD_LENGTH, kgard_fit(&plan, y, PLAN_N - 1, &work, NULL, &result));
    EXPECT(KGARD_NULL, kgard_fit(&plan, y, PLAN_N, &work, NULL, NULL));
    EXPECT(KGARD_SETTING, kgard_fit_max_residual(&plan, y, PLAN_N, -1.0f, &work, NULL, &result));
    y[3] = (float)(1e300 * 1e300);
    EXPECT(KGARD_NOT_FINITE, kgard_fit(&plan, y, PLAN_N, &work, NULL, &result));
    y[3] = 0.0f;
    EXPECT(KGARD_OK, kgard_fit(&plan, y, PLAN_N, &work, NULL, &result));
    EXPECT(KGARD_SETTING, kgard_stream_matern32_lag16(memory, sizeof memory, &settings, &stream));
    settings.length = settings.lambda = settings.noise = 1.0f;
    EXPECT(KGARD_MEMORY, kgard_stream_matern32_lag16(memory, 100, &settings, &stream));
    say("mistakes: all noticed\n");
    return 0;
}

int main(void) { return regression() + stream() + mistakes(); }

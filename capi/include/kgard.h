/* Robust regression and denoising in the presence of outliers.

   Made by cbindgen from capi/src: `cargo run -p kgard-header` in capi/ writes it anew. */

#ifndef KGARD_H
#define KGARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
/* Without an operating system: define KGARD_DEVICE, and leave out what is for computers. */
#if !defined(KGARD_DEVICE)
#define KGARD_HOST
#endif

#if UINTPTR_MAX == 0xFFFFFFFF
#define KGARD_32_BIT
#else
#define KGARD_64_BIT
#endif

/* Scalars of memory that a fit of n points with at most k outliers takes; k is at most n. */
#define KGARD_FIT_SCALARS(n, k) ((n) * ((k) + 3) + (k) * ((k) + 1) / 2 + (k))
/* The same for a plan with sample weights. */
#define KGARD_FIT_WEIGHTED_SCALARS(n, k) (KGARD_FIT_SCALARS(n, k) + (n))
/* Memory for a stream, aligned: KGARD_STREAM_MEMORY(name, KGARD_STREAM_MATERN32_LAG16); */
#define KGARD_STREAM_MEMORY(name, size) uint64_t name[((size) + 7) / 8]


#if defined(KGARD_32_BIT)
/**
 * Bytes of a stream with this kernel and lag.
 */
#define KGARD_STREAM_MATERN12_LAG16 1096
#endif

#if defined(KGARD_64_BIT)
/**
 * Bytes of a stream with this kernel and lag.
 */
#define KGARD_STREAM_MATERN12_LAG16 1192
#endif

#if defined(KGARD_32_BIT)
/**
 * Bytes of a stream with this kernel and lag.
 */
#define KGARD_STREAM_MATERN12_LAG32 2056
#endif

#if defined(KGARD_64_BIT)
/**
 * Bytes of a stream with this kernel and lag.
 */
#define KGARD_STREAM_MATERN12_LAG32 2216
#endif

#if defined(KGARD_32_BIT)
/**
 * Bytes of a stream with this kernel and lag.
 */
#define KGARD_STREAM_MATERN32_LAG16 1840
#endif

#if defined(KGARD_64_BIT)
/**
 * Bytes of a stream with this kernel and lag.
 */
#define KGARD_STREAM_MATERN32_LAG16 2008
#endif

#if defined(KGARD_32_BIT)
/**
 * Bytes of a stream with this kernel and lag.
 */
#define KGARD_STREAM_MATERN32_LAG32 3504
#endif

#if defined(KGARD_64_BIT)
/**
 * Bytes of a stream with this kernel and lag.
 */
#define KGARD_STREAM_MATERN32_LAG32 3800
#endif

#if defined(KGARD_32_BIT)
/**
 * Bytes of a stream with this kernel and lag.
 */
#define KGARD_STREAM_MATERN52_LAG16 3000
#endif

#if defined(KGARD_64_BIT)
/**
 * Bytes of a stream with this kernel and lag.
 */
#define KGARD_STREAM_MATERN52_LAG16 3096
#endif

#if defined(KGARD_32_BIT)
/**
 * Bytes of a stream with this kernel and lag.
 */
#define KGARD_STREAM_MATERN52_LAG32 5752
#endif

#if defined(KGARD_64_BIT)
/**
 * Bytes of a stream with this kernel and lag.
 */
#define KGARD_STREAM_MATERN52_LAG32 5912
#endif

/**
 * What a function returns: zero, or what is wrong.
 */
enum kgard_error
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * All is well.
     */
    KGARD_OK = 0,
    /**
     * A pointer is null.
     */
    KGARD_NULL = 1,
    /**
     * A pointer is not aligned to its type.
     */
    KGARD_ALIGNMENT = 2,
    /**
     * A handle was not made by the function that makes such handles.
     */
    KGARD_HANDLE = 3,
    /**
     * An array has another length than the plan calls for.
     */
    KGARD_LENGTH = 4,
    /**
     * The caller's memory is too short.
     */
    KGARD_MEMORY = 5,
    /**
     * A sample or another number is NaN or infinite.
     */
    KGARD_NOT_FINITE = 6,
    /**
     * A setting is outside of what it can be.
     */
    KGARD_SETTING = 7,
    /**
     * The bytes are no plan, are damaged, or were made for another scalar type.
     */
    KGARD_FORMAT = 8,
    /**
     * Results are too large for numbers: scale the data down.
     */
    KGARD_OVERFLOW = 9,
    /**
     * There is not enough memory, or the sizes cannot be counted.
     */
    KGARD_TOO_LARGE = 10,
    /**
     * The system cannot be solved: raise lambda.
     */
    KGARD_SINGULAR = 11,
    /**
     * Input of a kind that is not handled.
     */
    KGARD_UNSUPPORTED = 12,
    /**
     * A defect of this library: please report it.
     */
    KGARD_DEFECT = 13,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum kgard_error kgard_error;
#else
typedef int32_t kgard_error;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * Why a search for outliers ended.
 */
enum kgard_reason
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * The rule was met.
     */
    KGARD_RULE_MET = 0,
    /**
     * There was no room for more outliers.
     */
    KGARD_CAP_REACHED = 1,
    /**
     * Nothing was left to take out.
     */
    KGARD_EXHAUSTED = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum kgard_reason kgard_reason;
#else
typedef int32_t kgard_reason;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

#if defined(KGARD_HOST)
/**
 * The methods.
 */
enum kgard_method
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
#if defined(KGARD_HOST)
    /**
     * KGARD and BM3D in a loop: the best, and the default of the program.
     */
    KGARD_METHOD_KG_BM3D = 0,
#endif
#if defined(KGARD_HOST)
    /**
     * KGARD alone: several times faster.
     */
    KGARD_METHOD_KGARD = 1,
#endif
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum kgard_method kgard_method;
#else
typedef int32_t kgard_method;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus
#endif

#if defined(KGARD_HOST)
/**
 * The types of samples.
 */
enum kgard_sample_type
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
#if defined(KGARD_HOST)
    /**
     * `uint8_t`
     */
    KGARD_SAMPLE_U8 = 0,
#endif
#if defined(KGARD_HOST)
    /**
     * `uint16_t`
     */
    KGARD_SAMPLE_U16 = 1,
#endif
#if defined(KGARD_HOST)
    /**
     * `float`
     */
    KGARD_SAMPLE_F32 = 2,
#endif
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum kgard_sample_type kgard_sample_type;
#else
typedef int32_t kgard_sample_type;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus
#endif

#if defined(KGARD_HOST)
/**
 * How pictures are denoised. A `kgard_denoiser` may be used by several threads at a time.
 */
typedef struct kgard_denoiser kgard_denoiser;
#endif

/**
 * The functions of one kind of stream. Each takes a stream of that kind.
 */
typedef struct Functions Functions;

#if defined(KGARD_HOST)
/**
 * A picture in memory of the caller: sample (x, y) of channel c is at
 * `samples + x * pixel_stride + y * row_stride + c * channel_stride`.
 */
typedef struct kgard_picture {
    /**
     * Sample (0, 0) of channel 0.
     */
    void *samples;
    /**
     * KGARD_SAMPLE_U8, KGARD_SAMPLE_U16 or KGARD_SAMPLE_F32.
     */
    int32_t sample_type;
    /**
     * 1 for grey, 3 for red, green and blue, which are filtered together.
     */
    uint32_t channels;
    /**
     * Pixels in a row.
     */
    uint32_t width;
    /**
     * Rows.
     */
    uint32_t height;
    /**
     * Bytes from a pixel to the next one in its row; zero: channels lie side by side.
     */
    ptrdiff_t pixel_stride;
    /**
     * Bytes from a row to the next one, negative if they stand upside down; zero: without gaps.
     */
    ptrdiff_t row_stride;
    /**
     * Bytes from a channel to the next one of the same pixel; zero: side by side.
     */
    ptrdiff_t channel_stride;
} kgard_picture;
#endif

#if defined(KGARD_HOST)
/**
 * What was estimated and counted in a channel.
 */
typedef struct kgard_channel {
    /**
     * Number of outliers.
     */
    size_t outliers;
    /**
     * Standard deviation of the noise in units of the samples; negative if it is not estimated.
     */
    float noise;
} kgard_channel;
#endif

/**
 * A plan that has been opened: memory of the caller, written by `kgard_plan_open` only.
 */
typedef struct kgard_plan {
    size_t opaque[4];
} kgard_plan;

/**
 * Memory of one fit in `float`.
 */
typedef struct kgard_fit_memory {
    /**
     * KGARD_FIT_SCALARS(n, k) numbers, whatever they are.
     */
    float *scalars;
    /**
     * How many there are.
     */
    size_t scalars_len;
    /**
     * Room for k indices: the most outliers that there can be. The fit writes the indices of
     * the outliers here, in order of selection.
     */
    size_t *outliers;
    /**
     * k.
     */
    size_t outliers_len;
} kgard_fit_memory;

/**
 * What a fit has found, beside the indices of the outliers and the fitted values.
 */
typedef struct kgard_fit_result {
    /**
     * How many outliers there are.
     */
    size_t outliers;
    /**
     * Why the search ended: KGARD_RULE_MET, KGARD_CAP_REACHED or KGARD_EXHAUSTED.
     */
    int32_t reason;
} kgard_fit_result;

/**
 * Memory of one fit in `double`.
 */
typedef struct kgard_fit_memory64 {
    /**
     * KGARD_FIT_SCALARS(n, k) numbers, whatever they are.
     */
    double *scalars;
    /**
     * How many there are.
     */
    size_t scalars_len;
    /**
     * Room for k indices: the most outliers that there can be. The fit writes the indices of
     * the outliers here, in order of selection.
     */
    size_t *outliers;
    /**
     * k.
     */
    size_t outliers_len;
} kgard_fit_memory64;

/**
 * The settings of a stream. What is zero has its default.
 */
typedef struct kgard_stream_settings {
    /**
     * The kernel's length, in units of the distance of samples. No default.
     */
    float length;
    /**
     * The variance of the noise over that of the function. No default.
     */
    float lambda;
    /**
     * The standard deviation of the noise, in units of the samples. No default.
     */
    float noise;
    /**
     * The distance of samples for `kgard_stream_push`: 1.
     */
    float interval;
    /**
     * The threshold of an outlier in standard deviations: 4.
     */
    float threshold;
    /**
     * How far the level wanders over a distance of one, in units of the samples: by default one
     * standard deviation of the function in 1000 samples. Negative: by steps only.
     */
    float drift;
    /**
     * If positive the noise is estimated from the stream, and never below this: a third of the
     * resolution of the samples is a good choice. By default it is as given.
     */
    float noise_floor;
} kgard_stream_settings;

/**
 * The beginning of every stream.
 */
typedef struct Head {
    size_t mark;
    const struct Functions *functions;
} Head;

/**
 * A stream, in memory of the caller. Made by one of the functions `kgard_stream_matern...`.
 */
typedef struct Head kgard_stream;

/**
 * A sample that has left a stream.
 */
typedef struct kgard_sample {
    /**
     * The function there, without noise.
     */
    float value;
    /**
     * The sample as it came.
     */
    float raw;
    /**
     * Later samples that were known when this was decided.
     */
    uint32_t lag;
    /**
     * Whether a sample has left; if not, nothing else here means anything.
     */
    bool present;
    /**
     * Whether it is an outlier.
     */
    bool outlier;
    /**
     * Whether it was missing.
     */
    bool missing;
    /**
     * Whether a new level begins here.
     */
    bool step;
} kgard_sample;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * What a code means: a text that ends with a zero byte, and stays. Any number may be given.
 */
const char *kgard_error_text(int32_t error);

/**
 * The version of the library, such as "0.1.0": a text that ends with a zero byte, and stays.
 */
const char *kgard_version(void);

#if defined(KGARD_HOST)
/**
 * What went wrong last in this thread, with the numbers that were wrong. Writes as much as
 * fits, with a zero byte at the end, and to `length`, unless it is null, how long the
 * message is without it.
 *
 * # Safety
 * `text` points to `capacity` bytes that may be written to, `length` to a number or is null.
 */
kgard_error kgard_last_message(char *text, size_t capacity, size_t *length);
#endif

#if defined(KGARD_HOST)
/**
 * Makes a denoiser by the method KGARD_METHOD_KG_BM3D or KGARD_METHOD_KGARD, everything
 * automatic. It serves any number of pictures, and is freed by `kgard_denoiser_free`.
 *
 * # Safety
 * `denoiser` points to memory for a pointer.
 */
kgard_error kgard_denoiser_new(int32_t method, struct kgard_denoiser **denoiser);
#endif

#if defined(KGARD_HOST)
/**
 * Frees a denoiser; null is none.
 *
 * # Safety
 * `denoiser` was made by `kgard_denoiser_new`, is not in use, and not used again.
 */
void kgard_denoiser_free(struct kgard_denoiser *denoiser);
#endif

#if defined(KGARD_HOST)
/**
 * Denoises a picture. `output` has the size and the channels of `input`, with strides and a type
 * of samples of its own, and may be the same memory. To `outliers`, unless it is null, goes one
 * byte for each sample, 1 for an outlier, channel after channel, row after row without gaps; to
 * `channels`, unless it is null, what was estimated in each channel.
 *
 * # Safety
 * `denoiser` was made by `kgard_denoiser_new`. The samples are where `input` and `output` say;
 * `outliers` points to memory for width x height x channels bytes or is null, `channels` to
 * memory for as many as the picture has or is null.
 */
kgard_error kgard_denoise(const struct kgard_denoiser *denoiser,
                          const struct kgard_picture *input,
                          const struct kgard_picture *output,
                          uint8_t *outliers,
                          struct kgard_channel *channels);
#endif

/**
 * Opens a plan that `kgard plan` wrote: a .bin file in memory, or the array in a .h file. Its
 * checksum is checked here, and never again.
 *
 * # Safety
 * `bytes` points to `length` bytes, aligned to eight, that are not changed as long as the plan
 * is in use; `plan` to memory for a plan.
 */
kgard_error kgard_plan_open(struct kgard_plan *plan, const void *bytes, size_t length);

/**
 * Writes how many points a plan has, and how many coordinates each has, where not null.
 *
 * # Safety
 * `plan` points to an opened plan, `points` and `dimension` to numbers or are null.
 */
kgard_error kgard_plan_size(const struct kgard_plan *plan, size_t *points, size_t *dimension);

/**
 * Finds the outliers among `n` samples and fits the rest, with nothing to choose. Writes the
 * function's values to `fitted`, unless it is null, and what else there is to `result`; outlier
 * `j` is off by `y[j] - fitted[j]`.
 *
 * # Safety
 * `plan` points to an opened plan; `y` to `n` samples; `memory` to memory as it says, which
 * nobody else uses meanwhile; `fitted` to memory for `n` numbers, none of them in `y`, or is
 * null; `result` to memory for a result.
 */
kgard_error kgard_fit(const struct kgard_plan *plan,
                      const float *y,
                      size_t n,
                      const struct kgard_fit_memory *memory,
                      float *fitted,
                      struct kgard_fit_result *result);

/**
 * The same, with samples taken out until no residual is larger than `epsilon`.
 *
 * # Safety
 * As `kgard_fit`.
 */
kgard_error kgard_fit_max_residual(const struct kgard_plan *plan,
                                   const float *y,
                                   size_t n,
                                   float epsilon,
                                   const struct kgard_fit_memory *memory,
                                   float *fitted,
                                   struct kgard_fit_result *result);

/**
 * The same on a plan in `double`.
 *
 * # Safety
 * As `kgard_fit`.
 */
kgard_error kgard_fit64(const struct kgard_plan *plan,
                        const double *y,
                        size_t n,
                        const struct kgard_fit_memory64 *memory,
                        double *fitted,
                        struct kgard_fit_result *result);

/**
 * The same on a plan in `double`.
 *
 * # Safety
 * As `kgard_fit`.
 */
kgard_error kgard_fit64_max_residual(const struct kgard_plan *plan,
                                     const double *y,
                                     size_t n,
                                     double epsilon,
                                     const struct kgard_fit_memory64 *memory,
                                     double *fitted,
                                     struct kgard_fit_result *result);

/**
 * Makes a stream with the kernel Matern 3/2 and a window of 16 samples in `memory`
 * of `size` bytes, KGARD_STREAM_MATERN32_LAG16 at least, and writes to `stream` where it is.
 *
 * # Safety
 * `memory` points to `size` bytes, aligned to eight, that nobody else uses as long as the stream
 * does; `settings` to settings; `stream` to memory for a pointer. A stream may be used by one
 * thread at a time.
 */
kgard_error kgard_stream_matern32_lag16(void *memory,
                                        size_t size,
                                        const struct kgard_stream_settings *settings,
                                        kgard_stream **stream);

/**
 * Makes a stream with the kernel Matern 1/2, the Laplacian, and a window of 16 samples in `memory`
 * of `size` bytes, KGARD_STREAM_MATERN12_LAG16 at least, and writes to `stream` where it is.
 *
 * # Safety
 * As `kgard_stream_matern32_lag16`.
 */
kgard_error kgard_stream_matern12_lag16(void *memory,
                                        size_t size,
                                        const struct kgard_stream_settings *settings,
                                        kgard_stream **stream);

/**
 * Makes a stream with the kernel Matern 1/2, the Laplacian, and a window of 32 samples in `memory`
 * of `size` bytes, KGARD_STREAM_MATERN12_LAG32 at least, and writes to `stream` where it is.
 *
 * # Safety
 * As `kgard_stream_matern32_lag16`.
 */
kgard_error kgard_stream_matern12_lag32(void *memory,
                                        size_t size,
                                        const struct kgard_stream_settings *settings,
                                        kgard_stream **stream);

/**
 * Makes a stream with the kernel Matern 3/2 and a window of 32 samples in `memory`
 * of `size` bytes, KGARD_STREAM_MATERN32_LAG32 at least, and writes to `stream` where it is.
 *
 * # Safety
 * As `kgard_stream_matern32_lag16`.
 */
kgard_error kgard_stream_matern32_lag32(void *memory,
                                        size_t size,
                                        const struct kgard_stream_settings *settings,
                                        kgard_stream **stream);

/**
 * Makes a stream with the kernel Matern 5/2 and a window of 16 samples in `memory`
 * of `size` bytes, KGARD_STREAM_MATERN52_LAG16 at least, and writes to `stream` where it is.
 *
 * # Safety
 * As `kgard_stream_matern32_lag16`.
 */
kgard_error kgard_stream_matern52_lag16(void *memory,
                                        size_t size,
                                        const struct kgard_stream_settings *settings,
                                        kgard_stream **stream);

/**
 * Makes a stream with the kernel Matern 5/2 and a window of 32 samples in `memory`
 * of `size` bytes, KGARD_STREAM_MATERN52_LAG32 at least, and writes to `stream` where it is.
 *
 * # Safety
 * As `kgard_stream_matern32_lag16`.
 */
kgard_error kgard_stream_matern52_lag32(void *memory,
                                        size_t size,
                                        const struct kgard_stream_settings *settings,
                                        kgard_stream **stream);

/**
 * Takes a sample, NaN if it is missing, and writes the one that leaves, if one does.
 *
 * # Safety
 * `stream` points to a stream, `out` to memory for a sample.
 */
kgard_error kgard_stream_push(kgard_stream *stream, float sample, struct kgard_sample *out);

/**
 * The same with the distance from the sample before; of the first one it does not matter.
 *
 * # Safety
 * `stream` points to a stream, `out` to memory for a sample.
 */
kgard_error kgard_stream_push_after(kgard_stream *stream,
                                    float distance,
                                    float sample,
                                    struct kgard_sample *out);

/**
 * Writes the oldest sample inside, decided with what there is; none if there is none. For the
 * end of a stream, which may go on afterwards.
 *
 * # Safety
 * `stream` points to a stream, `out` to memory for a sample.
 */
kgard_error kgard_stream_drain(kgard_stream *stream, struct kgard_sample *out);

/**
 * Writes the standard deviation of the noise, as it was given or as it is tracked.
 *
 * # Safety
 * `stream` points to a stream, `noise` to memory for a number.
 */
kgard_error kgard_stream_noise(const kgard_stream *stream, float *noise);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* KGARD_H */

/* Pictures in place, with strides, in 8 and 16 bits and as floats. */
#include "kgard.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH 64
#define HEIGHT 48
/* A row has more bytes than pixels, and they stay as they are. */
#define ROW (WIDTH + 5)

static unsigned noise(unsigned *state) {
    *state = *state * 1664525u + 1013904223u;
    return *state >> 16;
}

static double truth(int x, int y) { return 100.0 + 50.0 * sin(x / 9.0) * cos(y / 7.0); }

static void check(kgard_error error, const char *what) {
    if (error != KGARD_OK) {
        char text[200];
        kgard_last_message(text, sizeof text, NULL);
        fprintf(stderr, "%s: %s (%s)\n", what, kgard_error_text(error), text);
        exit(1);
    }
}

static void expect(int holds, const char *what) {
    if (!holds) {
        fprintf(stderr, "%s\n", what);
        exit(1);
    }
}

int main(void) {
    static uint8_t bytes[HEIGHT][ROW], mask[HEIGHT][WIDTH];
    static uint16_t words[HEIGHT][WIDTH];
    static float floats[3][HEIGHT][WIDTH];
    unsigned state = 1;
    int x, y, c, method;
    kgard_denoiser *denoiser;
    kgard_channel channels[3];

    for (method = KGARD_METHOD_KG_BM3D; method <= KGARD_METHOD_KGARD; method++) {
        kgard_picture grey = {0}, wide = {0}, colour = {0};
        double error = 0.0, apart = 0.0;
        for (y = 0; y < HEIGHT; y++) {
            memset(bytes[y], 77, ROW);
            for (x = 0; x < WIDTH; x++) {
                double noisy = truth(x, y) + 8.0 * (noise(&state) / 32768.0 - 1.0);
                bytes[y][x] = noise(&state) % 20 == 0 ? 255 : (uint8_t)noisy;
                for (c = 0; c < 3; c++) {
                    floats[c][y][x] = (float)bytes[y][x] / 255.0f;
                }
            }
        }
        check(kgard_denoiser_new(method, &denoiser), "denoiser");

        /* From bytes to words, the last row first. */
        grey.samples = bytes;
        grey.sample_type = KGARD_SAMPLE_U8;
        grey.channels = 1;
        grey.width = WIDTH;
        grey.height = HEIGHT;
        grey.row_stride = ROW;
        wide = grey;
        wide.samples = words[HEIGHT - 1];
        wide.sample_type = KGARD_SAMPLE_U16;
        wide.row_stride = -(ptrdiff_t)sizeof words[0];
        check(kgard_denoise(denoiser, &grey, &wide, mask[0], channels), "bytes");
        /* In place. */
        check(kgard_denoise(denoiser, &grey, &grey, NULL, NULL), "in place");
        /* Planes of floats, in place. */
        colour.samples = floats;
        colour.sample_type = KGARD_SAMPLE_F32;
        colour.channels = 3;
        colour.width = WIDTH;
        colour.height = HEIGHT;
        colour.pixel_stride = sizeof(float);
        colour.row_stride = sizeof floats[0][0];
        colour.channel_stride = sizeof floats[0];
        check(kgard_denoise(denoiser, &colour, &colour, NULL, NULL), "floats");

        for (y = 0; y < HEIGHT; y++) {
            expect(bytes[y][WIDTH] == 77 && bytes[y][ROW - 1] == 77, "padding was changed");
            for (x = 0; x < WIDTH; x++) {
                error += pow(bytes[y][x] - truth(x, y), 2.0) / (WIDTH * HEIGHT);
                expect(words[HEIGHT - 1 - y][x] == bytes[y][x], "words differ from bytes");
                apart = fmax(apart, fabs(floats[1][y][x] * 255.0 - bytes[y][x]));
            }
        }
        printf("method %d: rms error %.2f, %zu outliers, noise %.2f\n", method, sqrt(error),
               channels[0].outliers, channels[0].noise);
        /* KGARD takes each channel by itself; bytes are rounded. */
        expect(method == KGARD_METHOD_KG_BM3D || apart < 0.51, "floats differ from bytes");
        expect(sqrt(error) < 4.0, "the noise is still there");
        expect(channels[0].outliers > 100 && channels[0].outliers < 220, "other outliers");

        grey.width = 0;
        expect(kgard_denoise(denoiser, &grey, &wide, NULL, NULL) == KGARD_LENGTH, "no pixels");
        grey.width = WIDTH - 1;
        expect(kgard_denoise(denoiser, &grey, &wide, NULL, NULL) == KGARD_LENGTH, "two sizes");
        grey.sample_type = 9;
        expect(kgard_denoise(denoiser, &grey, &wide, NULL, NULL) == KGARD_SETTING, "type");
        grey.samples = NULL;
        kgard_denoiser_free(denoiser);
    }
    expect(kgard_denoiser_new(7, &denoiser) == KGARD_SETTING && !denoiser, "method");
    kgard_denoiser_free(NULL);
    return 0;
}

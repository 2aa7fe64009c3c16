/* A microcontroller's way to main, and the debugger's console: QEMU's mps2-an386. */
#include "../console.h"

#include <stdint.h>

extern uint32_t stack_high, data_load, data_start, data_end, bss_start, bss_end;
int main(void);

static uint32_t semihosting(uint32_t operation, const void *argument) {
    register uint32_t r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = argument;
    __asm__ volatile("bkpt #0xAB" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
}

static _Noreturn void leave(uint32_t code) {
    const uint32_t arguments[] = {0x20026, code};
    semihosting(0x20, arguments);
    for (;;) {
    }
}

void say(const char *text) { semihosting(0x04, text); }

void say_number(long number) {
    char digits[12];
    char *at = digits + sizeof digits;
    unsigned long rest = number < 0 ? 0ul - (unsigned long)number : (unsigned long)number;
    *--at = 0;
    do {
        *--at = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest > 0);
    if (number < 0) {
        *--at = '-';
    }
    say(at);
}

static _Noreturn void fault(void) {
    say("FAULT\n");
    leave(102);
}

_Noreturn void reset(void) {
    const uint32_t *from = &data_load;
    volatile uint32_t *to;
    /* The floating-point unit. */
    *(volatile uint32_t *)0xE000ED88 |= 0x00F00000;
    __asm__ volatile("dsb\nisb" ::: "memory");
    for (to = &data_start; to < &data_end; to++) {
        *to = *from++;
    }
    for (to = &bss_start; to < &bss_end; to++) {
        *to = 0;
    }
    leave((uint32_t)main());
}

/* The table that the processor reads first. */
struct vectors {
    const uint32_t *stack;
    void (*reset)(void);
    void (*exceptions[14])(void);
};

__attribute__((section(".vectors"), used)) static const struct vectors vectors = {
    &stack_high,
    reset,
    {fault, fault, fault, fault, fault, fault, fault, fault, fault, fault, fault, fault, fault, fault},
};

/* What the examples print with: stdio on a computer, the debugger on a device. */
#ifndef CONSOLE_H
#define CONSOLE_H

#ifdef __cplusplus
extern "C" {
#endif
void say(const char *text);
void say_number(long number);
#ifdef __cplusplus
}
#endif

#endif

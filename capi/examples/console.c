/* The console of a computer. */
#include "console.h"

#include <stdio.h>

void say(const char *text) { fputs(text, stdout); }

void say_number(long number) { printf("%ld", number); }

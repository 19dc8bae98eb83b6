/* Both ends of a line in C, for tests/bench/round_trip.py.

   round_trip echo FD CPU         sends back whatever comes
   round_trip ask FD CPU SIZE     for each line of standard input, a number: so many frames of SIZE bytes there and
                                  back, one after the other; answers with the nanoseconds that took */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static long long now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static int echo(int fd) {
    char data[4096];
    ssize_t size;
    while ((size = read(fd, data, sizeof data)) > 0)
        if (write(fd, data, size) != size) return 1;
    return 0;
}

static int ask(int fd, size_t size) {
    char frame[4096], answer[4096];
    long trips;
    if (size > sizeof frame) return 2;
    memset(frame, 'x', size);
    while (scanf("%ld", &trips) == 1) {
        long long begun = now_ns();
        for (long trip = 0; trip < trips; trip++) {
            if (write(fd, frame, size) != (ssize_t)size) return 1;
            for (size_t have = 0; have < size;) {
                ssize_t more = read(fd, answer, sizeof answer);
                if (more <= 0) return 1;
                have += more;
            }
        }
        printf("%lld\n", now_ns() - begun);
        fflush(stdout);
    }
    return 0;
}

int main(int count, char **words) {
    cpu_set_t cpus;
    if (count < 4) return 2;
    CPU_ZERO(&cpus);
    CPU_SET(atoi(words[3]), &cpus);
    if (sched_setaffinity(0, sizeof cpus, &cpus) != 0) return 2;
    if (strcmp(words[1], "ask") == 0 && count == 5) return ask(atoi(words[2]), (size_t)atoi(words[4]));
    return echo(atoi(words[2]));
}

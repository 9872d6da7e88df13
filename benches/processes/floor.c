// The least that a recorder by notify can cost: reads the facts that `barrow record` reads, with as few calls as possible, and
// writes them as they are. It serves x86-64 with Linux 6.15 and one build that behaves: no samples of memory, no
// processes that are found late, no statuses after a signal.
//
//     floor OUT COMMAND..
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MOST_PROCESSES 4194304
// Since Linux 6.6; headers of the C library are older.
#ifndef SECCOMP_IOCTL_NOTIF_SET_FLAGS
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS SECCOMP_IOW(4, __u64)
#endif
#define GET_INFO 0xc040ff0b
struct info { unsigned long long mask, group; unsigned pid, tgid, ppid, ids[8]; int code; };

static FILE *out;
static int epoll;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
// For each process that runs: whether it is known, and its open schedstat.
static char known[MOST_PROCESSES];
static int schedules[MOST_PROCESSES];

static long long now(clockid_t clock) {
    struct timespec time;
    return clock_gettime(clock, &time) ? -1 : time.tv_sec * 1000000000LL + time.tv_nsec;
}

static void text(pid_t process, const char *name, char *into, int size) {
    char path[64];
    sprintf(path, "/proc/%d/%s", process, name);
    int file = open(path, O_RDONLY), length = file < 0 ? 0 : read(file, into, size - 1);
    if (file >= 0) close(file);
    into[length < 0 ? 0 : length] = 0;
}

static size_t memory(pid_t process, unsigned long address, void *into, size_t size) {
    struct iovec local = {into, size}, remote = {(void *)address, size};
    ssize_t length = process_vm_readv(process, &local, 1, &remote, 1, 0);
    return length < 0 ? 0 : length;
}

// The bytes from an address to the end of its page, at most.
static size_t rest_of_page(pid_t process, unsigned long address, void *into) {
    return memory(process, address, into, 4096 - (address & 4095));
}

static void executes(pid_t process, struct seccomp_data *call, long long time) {
    int is_at = call->nr == SYS_execveat;
    char path[4097], directory[4097], schedule[256], name[64], word[4096];
    unsigned long words[512];
    path[strnlen(path, rest_of_page(process, call->args[is_at], path))] = 0;
    size_t count = rest_of_page(process, call->args[is_at + 1], words) / 8;
    sprintf(name, "/proc/%d/cwd", process);
    int length = readlink(name, directory, 4096);
    directory[length < 0 ? 0 : length] = 0;
    struct info info = {0};
    if (!known[process]) {
        known[process] = 1;
        int descriptor = syscall(SYS_pidfd_open, process, 0);
        ioctl(descriptor, GET_INFO, &info);
        struct epoll_event event = {EPOLLIN | EPOLLET, {.fd = descriptor}};
        epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event);
    }
    sprintf(name, "/proc/%d/schedstat", process);
    if (schedules[process]) close(schedules[process]);
    schedules[process] = open(name, O_RDONLY);
    length = pread(schedules[process], schedule, sizeof schedule - 1, 0);
    schedule[length < 0 ? 0 : length] = 0;
    int is_there = access(path, X_OK) == 0;
    pthread_mutex_lock(&lock);
    fprintf(out, "executes %lld %d %d %d %s %s %s", time, process, info.ppid, is_there, path, directory, schedule);
    for (size_t i = 0; i < count && words[i]; i++) {
        size_t size = rest_of_page(process, words[i], word);
        fputc(' ', out);
        fwrite(word, 1, strnlen(word, size), out);
    }
    fputc('\n', out);
    pthread_mutex_unlock(&lock);
}

static void exits(pid_t process, int status, long long time) {
    char stat[1024], schedule[256], transferred[1024];
    text(process, "stat", stat, sizeof stat);
    long long used = now((~process << 3) | 2);
    int length = pread(schedules[process], schedule, sizeof schedule - 1, 0);
    schedule[length < 0 ? 0 : length] = 0;
    close(schedules[process]);
    text(process, "io", transferred, sizeof transferred);
    known[process] = schedules[process] = 0;
    pthread_mutex_lock(&lock);
    fprintf(out, "exits %lld %d %d %lld %s %s %s", time, process, status, used, stat, schedule, transferred);
    pthread_mutex_unlock(&lock);
}

static void *hear_ends(void *nothing) {
    struct epoll_event events[256];
    for (;;) {
        usleep(4000);
        int count = epoll_wait(epoll, events, 256, 1000);
        pthread_mutex_lock(&lock);
        for (int i = 0; i < count; i++) {
            if (!(events[i].events & EPOLLHUP)) continue;
            struct info info = {.mask = 8};
            ioctl(events[i].data.fd, GET_INFO, &info);
            if (out) fprintf(out, "ended %d %d\n", info.pid, info.code);
            close(events[i].data.fd);
        }
        pthread_mutex_unlock(&lock);
    }
    return nothing;
}

static int receive(int listener, struct seccomp_notif *call) {
    for (;;) {
        memset(call, 0, sizeof *call);
        if (!ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, call)) return 1;
        if (errno == EINTR) continue;
        struct pollfd poll_of = {listener, POLLIN, 0};
        poll(&poll_of, 1, -1);
        if (poll_of.revents & POLLHUP) return 0;
    }
}

static void go_on(int listener, struct seccomp_notif *call) {
    struct seccomp_notif_resp answer = {.id = call->id, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};
    ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
}

static void run(int socket, char **command) {
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_execve, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_execveat, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    int listener = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
    if (listener < 0) _exit(125);
    char byte = 0, control[CMSG_SPACE(sizeof listener)];
    struct iovec bytes = {&byte, 1};
    struct msghdr message = {.msg_iov = &bytes, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    *header = (struct cmsghdr){.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof listener)};
    memcpy(CMSG_DATA(header), &listener, sizeof listener);
    sendmsg(socket, &message, 0);
    close(listener);
    close(socket);
    execvp(command[0], command);
    _exit(127);
}

int main(int count, char **words) {
    if (count < 3) return 125;
    int pair[2], ends[2];
    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair);
    pid_t root = fork();
    if (!root) run(pair[1], words + 2);
    close(pair[1]);
    char byte, control[CMSG_SPACE(sizeof(int))];
    struct iovec bytes = {&byte, 1};
    struct msghdr message = {.msg_iov = &bytes, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    if (recvmsg(pair[0], &message, MSG_CMSG_CLOEXEC) <= 0 || !CMSG_FIRSTHDR(&message)) return 125;
    int listener;
    memcpy(&listener, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof listener);
    ioctl(listener, SECCOMP_IOCTL_NOTIF_SET_FLAGS, 1UL);
    struct seccomp_notif *call = calloc(1, 4096);
    // A guardian lets the build go on if this program is killed.
    pipe2(ends, O_CLOEXEC);
    if (!fork()) {
        close(ends[1]);
        setsid();
        while (read(ends[0], &byte, 1) < 0) {}
        while (receive(listener, call)) go_on(listener, call);
        _exit(0);
    }
    close(ends[0]);
    out = fopen(words[1], "w");
    if (!out) return 125;
    epoll = epoll_create1(EPOLL_CLOEXEC);
    pthread_t thread;
    pthread_create(&thread, 0, hear_ends, 0);
    while (receive(listener, call)) {
        long long time = now(CLOCK_MONOTONIC);
        if (call->data.nr == SYS_exit_group) exits(call->pid, (int)call->data.args[0], time);
        else executes(call->pid, &call->data, time);
        go_on(listener, call);
    }
    pthread_mutex_lock(&lock);
    fclose(out);
    out = 0;
    pthread_mutex_unlock(&lock);
    int status;
    waitpid(root, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

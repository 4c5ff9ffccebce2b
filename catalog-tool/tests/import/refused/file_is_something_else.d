int main(void) {
    return 0;
}
#!/usr/sbin/dtrace -s
syscall:::entry { @[probefunc] = count(); }

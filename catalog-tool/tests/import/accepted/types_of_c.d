provider types {
    probe characters(char a, signed char b, unsigned char c, int8_t d, uint8_t e);
    probe shorts(short a, unsigned short b, short int c, int16_t d, uint16_t e);
    probe ints(int a, unsigned b, unsigned int c, int32_t d, uint32_t e, enum mode f);
    probe longs(long a, unsigned long b, long long int c, unsigned long long d, int64_t e, uint64_t f, size_t g, ssize_t h);
    probe others(float a, double b, _Bool c, bool d, string e, uintptr_t f, pid_t g, time_t h);
    probe pointers(char *a, const char *b, char const *c, char **d, void *e, struct conn *f, int *g, char h[16]);
};

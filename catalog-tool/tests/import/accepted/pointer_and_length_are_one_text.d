provider shop {
    probe a(char *key, int keylen);
    probe b(char *key, size_t key_len, int other);
    probe c(const char *key, uint32_t nkey);
    probe d(int keylen, char *key);
    probe e(char *key, char *keylen);
    probe f(void *key, int keylen);
};

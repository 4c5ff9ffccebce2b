provider shop {
    probe sale(int, char *, uint64_t);
    probe closed(void);
    probe opened();
};

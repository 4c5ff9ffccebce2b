provider shop {
    probe failed(int errno, char *EOF, int strlen);
};

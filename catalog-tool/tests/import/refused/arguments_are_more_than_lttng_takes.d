provider shop {
    probe few(int);

    probe many(int a, int b, int c, int d, int e, int f, int g, int h, int i, int j, int k);
};

provider shop {
    probe taken(int id);
    probe taken__start(int id);
    probe taken__end(int id);
    probe large__start(int a, int b, int c, int d, int e);
    probe large__end(int f, int g, int h, int i, int j);
};

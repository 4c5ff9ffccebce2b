provider shop {
    /* The café was  opened. */
    probe opened(int a);
};

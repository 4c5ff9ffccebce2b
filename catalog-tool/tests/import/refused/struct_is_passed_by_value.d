provider shop {
    probe sale(struct basket basket, union b b);
    probe callback(int (*function)(int), void nothing);
};

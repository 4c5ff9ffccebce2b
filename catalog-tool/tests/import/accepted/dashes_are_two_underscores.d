provider shop {
    probe sale-start(int price);
    probe sale-end(int price);
    probe till-3-empty();
};

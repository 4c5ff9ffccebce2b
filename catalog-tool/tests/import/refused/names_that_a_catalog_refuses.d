provider shop {
    probe SALE(int price);
    probe unix(int price);
    probe self(int price, int price);
};
provider lttng_ust { probe a(); };

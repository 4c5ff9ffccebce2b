provider shop {
    probe sale(int price;
    probe refund(int price, probe other(int);
    probe good(int price);
};

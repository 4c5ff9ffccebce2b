provider shop {
    probe sale(int price)

    probe refund(int price);
};

provider shop {
    probe sale(int price);

provider shop {
    probe sale(int price); /* About it
};

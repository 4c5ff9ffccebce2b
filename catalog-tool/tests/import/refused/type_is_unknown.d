provider shop {
    probe sale(robj value, int price, unsigned float rate,
               long double sum);
};

/*
 * Copyright (c) 2026, nobody.
 */

/// What a shop does.
provider shop {
    /** One
     *  @brief Something was sold.
     *  @param price what it cost
     *               in cents
     *  @param[in] article: which it was
     *  @return nothing, as all probes do
     */
    probe sale(int price, char *article);

    // A line,
    // and another one.
    probe lines(int a /* the first */, int b); // Not this.

    /* A heading, not about what follows. */

    probe undocumented(int a);
    probe beside(int a); /* Said beside it. */
    probe arguments(
        /* Before the argument. */
        int a,
        int b, // After the argument.
        int c
    );
};

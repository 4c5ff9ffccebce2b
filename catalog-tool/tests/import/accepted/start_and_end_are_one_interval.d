provider shop {
    /* A customer is served.
     * @param customer whom
     * @param size what the basket held
     */
    probe serve__start(int customer, int size);
    /* A customer was served.
     * @param customer whom
     * @param size what the receipt lists
     */
    probe serve__end(int customer, int size);
    probe query_begin(char *sql);
    probe query_done(char *sql, int rows);
    probe call__entry(int id);
    probe call__return(int id, int64_t duration);
    /* Only a start. */
    probe race__start(int id);
    /* Only a name. */
    probe end(int id);
};

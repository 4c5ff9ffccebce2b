typedef struct {
    int dummy;
} connection_t;

provider server {
    /*
       server:::connected(c, name)

       A client connected.

       * `c` the connection
       * `name` what the client calls itself
         on that day
    */
    probe connected(connection_t *c, const char *name) : (info_t *c);
    probe undefined(request_t *r, other_t **o);
};

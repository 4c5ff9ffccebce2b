/*
 * Names and argument types as well-known programs have them, in one provider: pairs, what looks like a pair, and types.
 */
provider programs {
   probe method__entry(const char *class, const char *method, const char *file, int line);
   probe method__return(const char *class, const char *method, const char *file, int line);
   probe object__create(const char *class, const char *file, int line);
   probe gc__mark__begin();
   probe gc__mark__end();
   probe rpc_keepalive_start(void *ka, void *client, int interval, int count);
   probe rpc_keepalive_stop(void *ka, void *client);
   probe query__start(const char *);
   probe query__done(const char *);
   probe buffer__read__start(int, unsigned int, unsigned int, unsigned int, unsigned int, int, bool);
   probe buffer__read__done(int, unsigned int, unsigned int, unsigned int, unsigned int, int, bool, bool);
   probe function__entry(char *, char *, int, char *, char *);
   probe function__return(char *, char *, int, char *, char *);
   probe inst__start(char *new, int this, void *template, void **delete);
   probe inst__done(char *new, int this, void *template, void **delete);
   probe transaction__start(unsigned long id);
   probe transaction__commit(unsigned long id);
   probe transaction__abort(unsigned long id);
};

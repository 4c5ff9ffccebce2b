/* As PostgreSQL's file does. */
#define LocalTransactionId unsigned int
#define LWLockMode int
#define Oid unsigned int
#define bool unsigned char
typedef unsigned long long row_t;
struct unused { int member; };

provider postgresql {
    probe transaction__start(LocalTransactionId);
    probe transaction__commit(LocalTransactionId);
    probe lwlock__acquire(const char *, LWLockMode);
    probe buffer__read__start(Oid, Oid, int, bool);
    probe buffer__read__done(Oid, Oid, int, bool, bool);
    probe rows(row_t count);
};

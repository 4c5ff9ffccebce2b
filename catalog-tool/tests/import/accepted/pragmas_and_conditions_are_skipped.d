#include <sys/types.h>
#pragma D depends_on library procfs.d
provider shop {
#ifdef LARGE
    probe sale(int price);
#endif
#if 0
    probe old(struct gone by_value);
#endif
    probe translated(int a) : (shopinfo_t *b, int c);
};
#pragma D attributes Evolving/Evolving/Common \
        provider shop provider

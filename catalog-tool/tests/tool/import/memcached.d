/*
 * The probes of memcached 1.6: their names and types are those of its provider file.
 */
provider memcached {
   /**
    * A connection was taken from the pool.
    * @param connid the number of the connection
    */
   probe conn__allocate(int connid);
   /**
    * A connection went back to the pool.
    * @param connid the number of the connection
    */
   probe conn__release(int connid);
   /**
    * The pool was empty and a connection was made.
    * @param ptr where the connection is
    */
   probe conn__create(void *ptr);
   /**
    * The memory of a connection was freed.
    * @param ptr where the connection was
    */
   probe conn__destroy(void *ptr);
   /**
    * The listening thread handed a connection to a worker.
    * @param connid the number of the connection
    * @param threadid the worker
    */
   probe conn__dispatch(int connid, int64_t threadid);

   /**
    * A chunk was taken from the slabs.
    * @param size how much was asked for
    * @param slabclass the class it came from
    * @param slabsize how large chunks of that class are
    * @param ptr where the chunk is
    */
   probe slabs__allocate(int size, int slabclass, int slabsize, void* ptr);
   /**
    * The slabs had no chunk left.
    * @param size how much was asked for
    * @param slabclass the class that was full
    */
   probe slabs__allocate__failed(int size, int slabclass);
   /**
    * A class asked for another page.
    * @param slabclass the class
    */
   probe slabs__slabclass__allocate(int slabclass);
   /**
    * A class got no other page.
    * @param slabclass the class
    */
   probe slabs__slabclass__allocate__failed(int slabclass);
   /**
    * A chunk went back to the slabs.
    * @param size how large it was
    * @param slabclass the class it belongs to
    * @param ptr where it is
    */
   probe slabs__free(int size, int slabclass, void* ptr);

   /**
    * The hash table was searched.
    * @param key the key
    * @param keylen its length
    * @param depth how many items of the bucket were compared
    */
   probe assoc__find(const char *key, int keylen, int depth);
   /**
    * The hash table got an item.
    * @param key the key
    * @param keylen its length
    */
   probe assoc__insert(const char *key, int keylen);
   /**
    * The hash table lost an item.
    * @param key the key
    * @param keylen its length
    */
   probe assoc__delete(const char *key, int keylen);

   /**
    * An item became visible.
    * @param key the key
    * @param keylen its length
    * @param size the size of the data
    */
   probe item__link(const char *key, int keylen, int size);
   /**
    * An item is no longer visible.
    * @param key the key
    * @param keylen its length
    * @param size the size of the data
    */
   probe item__unlink(const char *key, int keylen, int size);
   /**
    * Somebody no longer refers to an item.
    * @param key the key
    * @param keylen its length
    * @param size the size of the data
    */
   probe item__remove(const char *key, int keylen, int size);
   /**
    * An item moved to the front of its LRU list.
    * @param key the key
    * @param keylen its length
    * @param size the size of the data
    */
   probe item__update(const char *key, int keylen, int size);
   /**
    * An item took the place of another.
    * @param oldkey the key of the old one
    * @param oldkeylen its length
    * @param oldsize the size of the old one's data
    * @param newkey the key of the new one
    * @param newkeylen its length
    * @param newsize the size of the new one's data
    */
   probe item__replace(const char *oldkey, int oldkeylen, int oldsize,
                       const char *newkey, int newkeylen, int newsize);

   /**
    * A request begins.
    * @param connid the number of the connection
    * @param request where the request is
    * @param size the size of the request
    */
   probe process__command__start(int connid, const void *request, int size);
   /**
    * A request was answered.
    * @param connid the number of the connection
    * @param response where the answer is
    * @param size the size of the answer
    */
   probe process__command__end(int connid, const void *response, int size);

   /** A client asked for a key. */
   probe command__get(int connid, const char *key, int keylen, int size, int64_t casid);
   /** A client added a key. */
   probe command__add(int connid, const char *key, int keylen, int size, int64_t casid);
   /** A client set a key. */
   probe command__set(int connid, const char *key, int keylen, int size, int64_t casid);
   /** A client replaced the data of a key. */
   probe command__replace(int connid, const char *key, int keylen, int size, int64_t casid);
   /** A client put data before that of a key. */
   probe command__prepend(int connid, const char *key, int keylen, int size, int64_t casid);
   /** A client put data after that of a key. */
   probe command__append(int connid, const char *key, int keylen, int size, int64_t casid);
   /** A client gave a key another expiry. */
   probe command__touch(int connid, const char *key, int keylen, int size, int64_t casid);
   /** A client set a key if nobody else had. */
   probe command__cas(int connid, const char *key, int keylen, int size, int64_t casid);
   /** A client increased a number. */
   probe command__incr(int connid, const char *key, int keylen, int64_t val);
   /** A client decreased a number. */
   probe command__decr(int connid, const char *key, int keylen, int64_t val);
   /** A client deleted a key. */
   probe command__delete(int connid, const char *key, int keylen);
};

#pragma D attributes Unstable/Unstable/Common provider memcached provider
#pragma D attributes Private/Private/Common provider memcached module
#pragma D attributes Private/Private/Common provider memcached function
#pragma D attributes Unstable/Unstable/Common provider memcached name
#pragma D attributes Unstable/Unstable/Common provider memcached args

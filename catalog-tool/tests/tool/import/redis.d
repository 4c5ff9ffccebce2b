/* What probes for Redis have been proposed: names and types are as in those proposals. */
provider redis {
   /* A command begins. */
   probe call__start(int cmd_id);
   /* A command is done. */
   probe call__end(int cmd_id);

   /* Connections. */

   /* A connection was made. */
   probe conn__create(const void *ptr);
   /* A client connected. */
   probe conn__accept(const void *ptr);
   /* The server connected to another. */
   probe conn__connect(const void *conn, const char *addr, int port, const char *srcaddr);
   /* A connection in use is to be closed. */
   probe conn__closing(const void *conn, int fd);
   /* A connection was freed. */
   probe conn__close(const void *ptr);
   /* A connection was handed to a thread. */
   probe conn__dispatch(int connid, int64_t threadid);

   /* A request begins. */
   probe process__command__start(int connid, const void *request);
   /* A request was answered. */
   probe process__command__end(int connid, const void *response);
   /* A client asked for a key. */
   probe command__get(const void *client, const char *key, int size);
   /* A client set a key. */
   probe command__set(const void *client, const char *key, int size);
   /* A client deleted keys. */
   probe command__del(const void *client, int lazy);
   /* Clients have to wait. */
   probe clients__paused(int end);

   /* A key is deleted from a database. */
   probe db__delete__key(int db, const char *key);
   /* A database is about to be emptied. */
   probe db__flush__start(int db);
   /* A database is empty. */
   probe db__flush__end(int db, int count);

   /* A reply was put in a client's buffer. */
   probe client__output__buffer__written(int connid, int size);
   /* A client's buffer is full, and the client is closed. */
   probe client__output__buffer__overflow(const void *client);
   /* A replica's buffer was written out. */
   probe replica__output__buffer__flushed(const void *client);
};

#pragma D attributes Unstable/Unstable/Common provider redis provider
#pragma D attributes Unstable/Unstable/Common provider redis args

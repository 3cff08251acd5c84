/* failing_memory LIBRARY SCRIPT [new]: runs the function that SCRIPT returns again and again, each time with the next
 * allocation of the Lua state failing, until one run has needed none any more. After every failure a run without one
 * has to work, and when the state is closed nothing may be left. Lua is loaded from LIBRARY, so that this needs no
 * headers. Prints what happened and ends with 0: all held; 1: something did not; 2: there is no such library; 3: it is
 * there and lacks something, or the arguments do; 4: it takes no allocator of the host's, as LuaJIT may not.
 * With "new", each run begins in a new state, and runs SCRIPT itself: for what happens once in a state. Of its many
 * allocations only some fail then, the later the fewer; and what Lua itself loses is not looked at. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct lua_State lua_State;
typedef void *(*lua_Alloc)(void *, void *, size_t, size_t);

static lua_State *(*new_state)(lua_Alloc, void *);
static void (*close_state)(lua_State *);
static void (*open_libs)(lua_State *);
static int (*load_file)(lua_State *, const char *);
static int (*pcall)(lua_State *, int, int, int);
static const char *(*to_string)(lua_State *, int, size_t *);
static void (*set_top)(lua_State *, int);
static void (*push_value)(lua_State *, int);

static long countdown = -1; /* allocations until the one that fails; below 0: none does */
static size_t used;

static void *allocate(void *unused, void *block, size_t old, size_t wanted) {
  void *moved;
  (void)unused;
  if (block == NULL) old = 0;
  if (wanted == 0) {
    free(block);
    used -= old;
    return NULL;
  }
  if (wanted > old && countdown >= 0 && countdown-- == 0) return NULL;
  moved = realloc(block, wanted);
  if (moved != NULL) used += wanted - old;
  return moved;
}

static void *symbol(void *library, const char *name) {
  void *found = dlsym(library, name);
  if (found == NULL) {
    printf("the library has no %s\n", name);
    exit(3);
  }
  return found;
}

static int failed; /* the last run has reached the allocation that was to fail */

/* One run; the message of what it raised, NULL for nothing. fail_at: which allocation fails, -1 for none. */
static const char *run(lua_State *l, long fail_at) {
  int status;
  set_top(l, 1);
  push_value(l, 1);
  countdown = fail_at;
  status = pcall(l, 0, 0, 0);
  failed = fail_at >= 0 && countdown < 0;
  countdown = -1;
  if (status == 0) return NULL;
  return to_string(l, -1, NULL) ? to_string(l, -1, NULL) : "(an error object)";
}

/* One state in which SCRIPT runs once with an allocation that fails, and, if it was reached, once more. 0 when all held. */
static int run_new(const char *script, long fail_at, int *reached) {
  lua_State *l = new_state(allocate, NULL);
  const char *message;
  if (l == NULL) return 4;
  open_libs(l);
  if (load_file(l, script) != 0) return 3;
  message = run(l, fail_at);
  *reached = failed;
  if (message != NULL && strstr(message, "not enough memory") == NULL) {
    printf("allocation %ld: %s\n", fail_at, message);
    return 1;
  }
  message = *reached ? run(l, -1) : NULL;
  if (message != NULL) {
    printf("after allocation %ld: %s\n", fail_at, message);
    return 1;
  }
  close_state(l);
  return 0;
}

static int run_all_new(const char *script) {
  long at, failures = 0;
  int reached;
  for (at = 0; at < 1000000; at += 1 + at / 20) {
    int fault = run_new(script, at, &reached);
    if (fault != 0) return fault;
    if (!reached) break;
    failures++;
  }
  printf("%ld allocations failed\n", failures);
  return 0;
}

int main(int count, char **arguments) {
  void *library;
  lua_State *l;
  long failures = 0;
  const char *message;
  if (count != 3 && count != 4) return 3;
  library = dlopen(arguments[1], RTLD_NOW | RTLD_GLOBAL);
  if (library == NULL) {
    printf("%s\n", dlerror());
    return 2;
  }
  *(void **)&new_state = symbol(library, "lua_newstate");
  *(void **)&close_state = symbol(library, "lua_close");
  *(void **)&open_libs = symbol(library, "luaL_openlibs");
  *(void **)&load_file = symbol(library, "luaL_loadfile");
  *(void **)&pcall = symbol(library, "lua_pcall");
  *(void **)&to_string = symbol(library, "lua_tolstring");
  *(void **)&set_top = symbol(library, "lua_settop");
  *(void **)&push_value = symbol(library, "lua_pushvalue");
  if (count == 4) return run_all_new(arguments[2]);
  l = new_state(allocate, NULL);
  if (l == NULL) return 4;
  open_libs(l);
  if (load_file(l, arguments[2]) != 0 || pcall(l, 0, 1, 0) != 0) {
    printf("cannot start: %s\n", to_string(l, -1, NULL));
    return 1;
  }
  run(l, -1);
  for (failures = 0; failures < 100000; failures++) {
    message = run(l, failures);
    if (message != NULL && strstr(message, "not enough memory") == NULL) {
      printf("allocation %ld: %s\n", failures, message);
      return 1;
    }
    if (!failed) break;
    message = run(l, -1);
    if (message != NULL) {
      printf("after allocation %ld: %s\n", failures, message);
      return 1;
    }
  }
  close_state(l);
  printf("%ld allocations failed, %lu bytes left\n", failures, (unsigned long)used);
  return used == 0 ? 0 : 1;
}

// containers: a driver for the list, the tree and the hash table.
//
//   containers [-k] [-v] [-e COMMANDS | FILE]
//
// Reads commands, one a line or divided by ';', from COMMANDS, FILE or the
// standard input; # starts a comment. -k checks every container after every
// command, -v prints each command first. NAME is one small letter.
//
//   new list|tree|table NAME     drop NAME      swap NAME NAME
//   size NAME   show NAME        clear NAME     check NAME
//   merge NAME OTHER             live
//
//   list:   push NAME N...       unshift NAME N...    insert NAME POS N
//           at NAME POS          remove NAME POS      del NAME N
//           find NAME N [START]  reverse NAME         sort NAME
//           unique NAME          rotate NAME N        split NAME POS OTHER
//   tree:   put NAME KEY TEXT    get NAME KEY         del NAME KEY
//           floor NAME KEY       ceiling NAME KEY     select NAME RANK
//           rank NAME KEY        range NAME LOW HIGH  height NAME
//           fill NAME LOW HIGH [STEP]                 cut NAME LOW HIGH
//           shape NAME
//   table:  put NAME WORD N      get NAME WORD        del NAME WORD
//           count NAME WORD...   buckets NAME
//
// A command that fails prints "error: ..." and the status is 1 at the end.

#include "list.h"
#include "table.h"
#include "tree.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS = 26, MAX_WORDS = 40, MAX_LINE = 256 };

typedef enum { NONE, LIST, TREE, TABLE } Kind;

static const char *const kind_names[] = {"none", "list", "tree", "table"};

typedef struct {
  Kind kind;
  List list;
  Tree tree;
  Table table;
} Slot;

typedef struct {
  Slot slots[SLOTS];
  bool check_always, verbose;
  int errors;
} Driver;

// One command: words[0] is its name, slot the container words[1] names.
typedef struct {
  char *words[MAX_WORDS];
  Slot *slot;
  int count;
} Command;

static void error(Driver *d, const char *why, const char *what) {
  printf("error: %s%s%s\n", why, what ? " " : "", what ? what : "");
  d->errors++;
}

static bool parse_number(const char *text, int *out) {
  char *end;
  long n = strtol(text, &end, 10);
  if (end == text || *end != '\0' || n < -1000000 || n > 1000000)
    return false;
  *out = (int)n;
  return true;
}

// Argument `i` as a number; complains if it is missing or none.
static bool number(Driver *d, const Command *c, int i, int *out) {
  if (i >= c->count) {
    error(d, "too few arguments for", c->words[0]);
    return false;
  }
  if (!parse_number(c->words[i], out)) {
    error(d, "not a number:", c->words[i]);
    return false;
  }
  return true;
}

// Is `name` one of the words of `names`?
static bool listed(const char *name, const char *names) {
  size_t len = strlen(name);
  for (const char *p = strstr(names, name); p; p = strstr(p + 1, name))
    if ((p == names || p[-1] == ' ') && (p[len] == ' ' || p[len] == '\0'))
      return true;
  return false;
}

static Slot *find_slot(Driver *d, const char *name) {
  if (!islower((unsigned char)name[0]) || name[1] != '\0')
    return NULL;
  return &d->slots[name[0] - 'a'];
}

static void slot_release(Slot *s) {
  switch (s->kind) {
  case LIST:
    list_clear(&s->list);
    break;
  case TREE:
    tree_clear(&s->tree);
    break;
  case TABLE:
    table_release(&s->table);
    break;
  case NONE:
    break;
  }
  s->kind = NONE;
}

static const char *slot_check(const Slot *s) {
  switch (s->kind) {
  case LIST:
    return list_check(&s->list);
  case TREE:
    return tree_check(&s->tree);
  case TABLE:
    return table_check(&s->table);
  default:
    return NULL;
  }
}

static int slot_size(const Slot *s) {
  switch (s->kind) {
  case LIST:
    return s->list.len;
  case TREE:
    return tree_size(&s->tree);
  default:
    return s->table.len;
  }
}

static void slot_clear(Slot *s) {
  if (s->kind == LIST)
    list_clear(&s->list);
  else if (s->kind == TREE)
    tree_clear(&s->tree);
  else
    table_clear(&s->table);
}

// ---- Printing -------------------------------------------------------------

static void show_list(const List *l) {
  printf("[");
  for (const ListNode *n = l->head; n; n = n->next)
    printf("%s%d", n->prev ? " " : "", n->value);
  printf("]\n");
}

static void show_range(const Tree *t, int low, int high) {
  TreeCursor c;
  bool first = true;
  printf("{");
  tree_start(t, low, &c);
  for (const TreeNode *n = tree_next(&c); n && n->key <= high;
       n = tree_next(&c)) {
    printf("%s%d:%s", first ? "" : " ", n->key, n->text);
    first = false;
  }
  printf("}\n");
}

static void show_table(const Table *t) {
  const Entry **all = table_sorted(t);
  printf("(");
  for (int i = 0; i < t->len; i++)
    printf("%s%s=%d", i > 0 ? " " : "", all[i]->key, all[i]->value);
  printf(")\n");
  free(all);
}

static void show_slot(const Slot *s) {
  if (s->kind == LIST)
    show_list(&s->list);
  else if (s->kind == TREE)
    show_range(&s->tree, -1000000, 1000000);
  else
    show_table(&s->table);
}

static void show_node(const TreeNode *n) {
  if (n)
    printf("%d:%s\n", n->key, n->text);
  else
    printf("none\n");
}

// The keys as they hang: (left key right) with nothing for no child.
static void show_shape(const TreeNode *n) {
  if (!n)
    return;
  printf("(");
  show_shape(n->left);
  printf("%d", n->key);
  show_shape(n->right);
  printf(")");
}

static void show_yes(bool yes) { printf("%s\n", yes ? "yes" : "no"); }

// ---- Commands of all containers ---------------------------------------------

static void command_new(Driver *d, const Command *c) {
  Slot *s = c->count == 3 ? find_slot(d, c->words[2]) : NULL;
  if (!s) {
    error(d, "usage: new KIND NAME", NULL);
    return;
  }
  Kind kind = LIST;
  while (kind <= TABLE && strcmp(c->words[1], kind_names[kind]) != 0)
    kind++;
  if (kind > TABLE) {
    error(d, "unknown kind", c->words[1]);
    return;
  }
  slot_release(s);
  s->kind = kind;
  if (kind == LIST)
    list_init(&s->list);
  else if (kind == TREE)
    tree_init(&s->tree);
  else
    table_init(&s->table);
}

// The container that argument `i` names, of the same kind as the first.
static Slot *same_kind(Driver *d, const Command *c, int i) {
  Slot *other = i < c->count ? find_slot(d, c->words[i]) : NULL;
  if (!other || other->kind != c->slot->kind) {
    error(d, "needs a second", kind_names[c->slot->kind]);
    return NULL;
  }
  if (other == c->slot) {
    error(d, "needs two containers, not twice", c->words[i]);
    return NULL;
  }
  return other;
}

static void command_merge(Driver *d, const Command *c) {
  Slot *other = same_kind(d, c, 2);
  if (!other)
    return;
  if (other->kind == LIST)
    list_merge(&c->slot->list, &other->list);
  else if (other->kind == TREE)
    tree_merge(&c->slot->tree, &other->tree);
  else
    table_merge(&c->slot->table, &other->table);
  printf("%d\n", slot_size(c->slot));
}

static void command_swap(Driver *d, const Command *c) {
  Slot *other = c->count == 3 ? find_slot(d, c->words[2]) : NULL;
  if (!other) {
    error(d, "usage: swap NAME NAME", NULL);
    return;
  }
  Slot s = *c->slot;
  *c->slot = *other;
  *other = s;
}

static bool common_command(Driver *d, const Command *c) {
  const char *name = c->words[0];
  Slot *s = c->slot;
  if (strcmp(name, "drop") == 0) {
    slot_release(s);
  } else if (strcmp(name, "size") == 0) {
    printf("%d\n", slot_size(s));
  } else if (strcmp(name, "show") == 0) {
    show_slot(s);
  } else if (strcmp(name, "clear") == 0) {
    slot_clear(s);
  } else if (strcmp(name, "check") == 0) {
    const char *problem = slot_check(s);
    printf("%s\n", problem ? problem : "ok");
  } else if (strcmp(name, "merge") == 0) {
    command_merge(d, c);
  } else if (strcmp(name, "swap") == 0) {
    command_swap(d, c);
  } else {
    return false;
  }
  return true;
}

// ---- Commands of the list ---------------------------------------------------

static void list_push(Driver *d, const Command *c, bool front) {
  for (int i = 2; i < c->count; i++) {
    int n;
    if (!number(d, c, i, &n))
      return;
    if (front)
      list_push_front(&c->slot->list, n);
    else
      list_push_back(&c->slot->list, n);
  }
}

static void list_split_command(Driver *d, const Command *c) {
  int position;
  List rest;
  if (!number(d, c, 2, &position))
    return;
  Slot *other = same_kind(d, c, 3);
  if (!other)
    return;
  if (!list_split(&c->slot->list, position, &rest)) {
    error(d, "no such position:", c->words[2]);
    return;
  }
  list_clear(&other->list);
  other->list = rest;
}

// The commands with a position or a value as their argument.
static bool list_number_command(Driver *d, const Command *c) {
  const char *name = c->words[0];
  List *l = &c->slot->list;
  int n, more = 0;
  if (!listed(name, "at remove del rotate insert find"))
    return false;
  if (!number(d, c, 2, &n))
    return true;
  bool in_range = true;
  if (strcmp(name, "at") == 0) {
    const ListNode *node = list_at(l, n);
    in_range = node != NULL;
    if (node)
      printf("%d\n", node->value);
  } else if (strcmp(name, "remove") == 0) {
    in_range = list_remove_at(l, n);
  } else if (strcmp(name, "del") == 0) {
    printf("%d\n", list_remove_value(l, n));
  } else if (strcmp(name, "rotate") == 0) {
    list_rotate(l, n);
  } else if (strcmp(name, "insert") == 0) {
    if (number(d, c, 3, &more))
      in_range = list_insert(l, n, more);
  } else if (c->count == 3 || number(d, c, 3, &more)) {
    printf("%d\n", list_find(l, n, more));
  }
  if (!in_range)
    error(d, "no such position:", c->words[2]);
  return true;
}

static bool list_command(Driver *d, const Command *c) {
  const char *name = c->words[0];
  List *l = &c->slot->list;
  if (strcmp(name, "push") == 0)
    list_push(d, c, false);
  else if (strcmp(name, "unshift") == 0)
    list_push(d, c, true);
  else if (strcmp(name, "reverse") == 0)
    list_reverse(l);
  else if (strcmp(name, "sort") == 0)
    list_sort(l);
  else if (strcmp(name, "unique") == 0)
    printf("%d\n", list_unique(l));
  else if (strcmp(name, "split") == 0)
    list_split_command(d, c);
  else
    return list_number_command(d, c);
  return true;
}

// ---- Commands of the tree ---------------------------------------------------

static void tree_fill(Driver *d, const Command *c) {
  int low, high, step = 1;
  char text[16];
  if (!number(d, c, 2, &low) || !number(d, c, 3, &high))
    return;
  if (c->count > 4 && !number(d, c, 4, &step))
    return;
  if (step < 1) {
    error(d, "bad step:", c->words[4]);
    return;
  }
  for (int key = low; key <= high; key += step) {
    snprintf(text, sizeof text, "n%d", key);
    tree_put(&c->slot->tree, key, text);
  }
}

// Deletes the keys in [low, high], one after another.
static void tree_cut(Driver *d, const Command *c) {
  int low, high, removed = 0;
  if (!number(d, c, 2, &low) || !number(d, c, 3, &high))
    return;
  const TreeNode *n = tree_ceiling(&c->slot->tree, low);
  while (n && n->key <= high) {
    int key = n->key;
    tree_delete(&c->slot->tree, key);
    removed++;
    n = tree_ceiling(&c->slot->tree, key);
  }
  printf("%d\n", removed);
}

static bool tree_key_command(Driver *d, const Command *c) {
  const char *name = c->words[0];
  Tree *t = &c->slot->tree;
  int key, high;
  if (!listed(name, "put get del floor ceiling select rank range"))
    return false;
  if (!number(d, c, 2, &key))
    return true;
  if (strcmp(name, "put") == 0) {
    if (c->count == 4)
      show_yes(tree_put(t, key, c->words[3]));
    else
      error(d, "usage: put NAME KEY TEXT", NULL);
  } else if (strcmp(name, "get") == 0) {
    show_node(tree_find(t, key));
  } else if (strcmp(name, "del") == 0) {
    show_yes(tree_delete(t, key));
  } else if (strcmp(name, "floor") == 0) {
    show_node(tree_floor(t, key));
  } else if (strcmp(name, "ceiling") == 0) {
    show_node(tree_ceiling(t, key));
  } else if (strcmp(name, "select") == 0) {
    show_node(tree_select(t, key));
  } else if (strcmp(name, "rank") == 0) {
    printf("%d\n", tree_rank(t, key));
  } else if (number(d, c, 3, &high)) {
    show_range(t, key, high);
  }
  return true;
}

static bool tree_command(Driver *d, const Command *c) {
  const char *name = c->words[0];
  if (strcmp(name, "fill") == 0) {
    tree_fill(d, c);
  } else if (strcmp(name, "cut") == 0) {
    tree_cut(d, c);
  } else if (strcmp(name, "height") == 0) {
    printf("%d\n", tree_height(&c->slot->tree));
  } else if (strcmp(name, "shape") == 0) {
    show_shape(c->slot->tree.root);
    printf("\n");
  } else {
    return tree_key_command(d, c);
  }
  return true;
}

// ---- Commands of the table --------------------------------------------------

static bool table_command(Driver *d, const Command *c) {
  const char *name = c->words[0];
  Table *t = &c->slot->table;
  int n;
  if (strcmp(name, "put") == 0) {
    if (number(d, c, 3, &n))
      show_yes(table_put(t, c->words[2], n));
  } else if (strcmp(name, "get") == 0 && c->count == 3) {
    const Entry *e = table_find(t, c->words[2]);
    if (e)
      printf("%d\n", e->value);
    else
      printf("none\n");
  } else if (strcmp(name, "del") == 0 && c->count == 3) {
    show_yes(table_delete(t, c->words[2]));
  } else if (strcmp(name, "count") == 0) {
    for (int i = 2; i < c->count; i++)
      table_add(t, c->words[i], 1);
  } else if (strcmp(name, "buckets") == 0) {
    printf("%d entries, %d buckets, longest %d\n", t->len, t->bucket_count,
           table_longest(t));
  } else {
    return false;
  }
  return true;
}

// ---- Reading and running commands -------------------------------------------

static void check_all(Driver *d) {
  for (int i = 0; i < SLOTS; i++) {
    const char *problem = slot_check(&d->slots[i]);
    if (problem) {
      printf("check: %c: %s\n", 'a' + i, problem);
      d->errors++;
    }
  }
}

static void run_command(Driver *d, Command *c) {
  bool known;
  if (strcmp(c->words[0], "live") == 0) {
    printf("%d list nodes, %d tree nodes, %d entries\n", list_live(),
           tree_live(), table_live());
    return;
  }
  if (strcmp(c->words[0], "new") == 0) {
    command_new(d, c);
    return;
  }
  c->slot = c->count > 1 ? find_slot(d, c->words[1]) : NULL;
  if (!c->slot || c->slot->kind == NONE) {
    error(d, "no container for", c->words[0]);
    return;
  }
  known = common_command(d, c);
  if (!known && c->slot->kind == LIST)
    known = list_command(d, c);
  else if (!known && c->slot->kind == TREE)
    known = tree_command(d, c);
  else if (!known)
    known = table_command(d, c);
  if (!known)
    error(d, "bad command", c->words[0]);
}

// Runs one line, which is cut into words in place.
static void run_line(Driver *d, char *line) {
  Command c = {.count = 0};
  line[strcspn(line, "#")] = '\0';
  if (d->verbose && line[strspn(line, " \t")] != '\0')
    printf("> %s\n", line + strspn(line, " \t"));
  for (char *word = strtok(line, " \t"); word; word = strtok(NULL, " \t")) {
    if (c.count == MAX_WORDS) {
      error(d, "too many words", NULL);
      return;
    }
    c.words[c.count++] = word;
  }
  if (c.count == 0)
    return;
  run_command(d, &c);
  if (d->check_always)
    check_all(d);
}

// The next line or command up to ';' of f or *text; false at the end.
static bool next_line(FILE *f, const char **text, char line[MAX_LINE]) {
  int len = 0, c = 0;
  for (;;) {
    c = f ? getc(f) : (unsigned char)**text;
    if (!f && c != '\0')
      ++*text;
    if (c == EOF || c == '\0' || c == '\n' || c == ';')
      break;
    if (len < MAX_LINE - 1)
      line[len++] = (char)c;
  }
  line[len] = '\0';
  return len > 0 || c == '\n' || c == ';';
}

static int run_all(Driver *d, FILE *f, const char *text) {
  char line[MAX_LINE];
  while (next_line(f, &text, line))
    run_line(d, line);
  for (int i = 0; i < SLOTS; i++)
    slot_release(&d->slots[i]);
  int left = list_live() + tree_live() + table_live();
  if (left != 0) {
    printf("%d nodes leaked\n", left);
    d->errors++;
  }
  return d->errors > 0;
}

int main(int argc, char **argv) {
  Driver d = {.errors = 0};
  const char *text = NULL, *path = NULL;
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "-k") == 0) {
      d.check_always = true;
    } else if (strcmp(argv[i], "-v") == 0) {
      d.verbose = true;
    } else if (strcmp(argv[i], "-e") == 0 && i + 1 < argc) {
      text = argv[++i];
    } else if (argv[i][0] == '-' || path) {
      printf("containers: bad argument %s\n", argv[i]);
      return 2;
    } else {
      path = argv[i];
    }
  }
  if (text)
    return run_all(&d, NULL, text);
  FILE *f = path ? fopen(path, "r") : stdin;
  if (!f) {
    printf("containers: cannot read %s\n", path);
    return 2;
  }
  int status = run_all(&d, f, NULL);
  if (path)
    fclose(f);
  return status;
}

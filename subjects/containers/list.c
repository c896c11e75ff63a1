// The list: every node knows both neighbours, the list both ends.

#include "list.h"

#include <stdlib.h>

static int live;

static ListNode *node_new(int value) {
  ListNode *n = malloc(sizeof *n);
  if (!n)
    abort();
  n->next = n->prev = NULL;
  n->value = value;
  live++;
  return n;
}

static void node_free(ListNode *n) {
  free(n);
  live--;
}

int list_live(void) { return live; }

void list_init(List *l) {
  l->head = l->tail = NULL;
  l->len = 0;
}

void list_clear(List *l) {
  ListNode *n = l->head;
  while (n) {
    ListNode *next = n->next;
    node_free(n);
    n = next;
  }
  list_init(l);
}

// Links `n` in before `at`; NULL means at the end.
static void link_before(List *l, ListNode *at, ListNode *n) {
  ListNode *before = at ? at->prev : l->tail;
  n->next = at;
  n->prev = before;
  if (before)
    before->next = n;
  else
    l->head = n;
  if (at)
    at->prev = n;
  else
    l->tail = n;
  l->len++;
}

static void unlink_node(List *l, ListNode *n) {
  if (n->prev)
    n->prev->next = n->next;
  else
    l->head = n->next;
  if (n->next)
    n->next->prev = n->prev;
  else
    l->tail = n->prev;
  l->len--;
}

void list_push_back(List *l, int value) {
  link_before(l, NULL, node_new(value));
}

void list_push_front(List *l, int value) {
  link_before(l, l->head, node_new(value));
}

ListNode *list_at(const List *l, int position) {
  if (position < 0)
    position += l->len;
  if (position < 0 || position >= l->len)
    return NULL;
  ListNode *n;
  if (position < l->len / 2) {
    n = l->head;
    while (position-- > 0)
      n = n->next;
  } else {
    n = l->tail;
    while (++position < l->len)
      n = n->prev;
  }
  return n;
}

bool list_insert(List *l, int position, int value) {
  if (position == l->len) {
    list_push_back(l, value);
    return true;
  }
  ListNode *at = list_at(l, position);
  if (!at)
    return false;
  link_before(l, at, node_new(value));
  return true;
}

bool list_remove_at(List *l, int position) {
  ListNode *n = list_at(l, position);
  if (!n)
    return false;
  unlink_node(l, n);
  node_free(n);
  return true;
}

int list_remove_value(List *l, int value) {
  int removed = 0;
  ListNode *n = l->head;
  while (n) {
    ListNode *next = n->next;
    if (n->value == value) {
      unlink_node(l, n);
      node_free(n);
      removed++;
    }
    n = next;
  }
  return removed;
}

int list_find(const List *l, int value, int start) {
  int position = 0;
  for (const ListNode *n = l->head; n; n = n->next) {
    if (position >= start && n->value == value)
      return position;
    position++;
  }
  return -1;
}

void list_reverse(List *l) {
  ListNode *n = l->head;
  while (n) {
    ListNode *next = n->next;
    n->next = n->prev;
    n->prev = next;
    n = next;
  }
  ListNode *head = l->head;
  l->head = l->tail;
  l->tail = head;
}

// Moves the first node of `from` to the end of `to`.
static void move_first(List *to, List *from) {
  ListNode *n = from->head;
  unlink_node(from, n);
  link_before(to, NULL, n);
}

void list_merge(List *l, List *other) {
  List out;
  list_init(&out);
  while (l->head && other->head) {
    if (other->head->value < l->head->value)
      move_first(&out, other);
    else
      move_first(&out, l);
  }
  while (l->head)
    move_first(&out, l);
  while (other->head)
    move_first(&out, other);
  *l = out;
}

bool list_split(List *l, int position, List *rest) {
  list_init(rest);
  if (position < 0)
    position += l->len;
  if (position < 0 || position > l->len)
    return false;
  if (position == l->len)
    return true;
  ListNode *at = list_at(l, position);
  rest->head = at;
  rest->tail = l->tail;
  rest->len = l->len - position;
  l->tail = at->prev;
  if (l->tail)
    l->tail->next = NULL;
  else
    l->head = NULL;
  at->prev = NULL;
  l->len = position;
  return true;
}

void list_sort(List *l) {
  if (l->len < 2)
    return;
  List rest;
  list_split(l, l->len / 2, &rest);
  list_sort(l);
  list_sort(&rest);
  list_merge(l, &rest);
}

int list_unique(List *l) {
  int dropped = 0;
  ListNode *n = l->head;
  while (n && n->next) {
    ListNode *next = n->next;
    if (next->value == n->value) {
      unlink_node(l, next);
      node_free(next);
      dropped++;
    } else {
      n = next;
    }
  }
  return dropped;
}

void list_rotate(List *l, int n) {
  if (l->len == 0)
    return;
  n %= l->len;
  if (n < 0)
    n += l->len;
  while (n-- > 0)
    move_first(l, l);
}

const char *list_check(const List *l) {
  const ListNode *before = NULL;
  int len = 0;
  for (const ListNode *n = l->head; n; n = n->next) {
    if (n->prev != before)
      return "back link is wrong";
    if (++len > l->len)
      return "more nodes than its length";
    before = n;
  }
  if (l->tail != before)
    return "tail is not the last node";
  if (len != l->len)
    return "fewer nodes than its length";
  return NULL;
}

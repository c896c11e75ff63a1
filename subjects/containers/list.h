// A doubly linked list of numbers. Positions count from 0; a negative one
// counts from the end (-1 is the last element).

#ifndef LIST_H
#define LIST_H

#include <stdbool.h>

typedef struct ListNode ListNode;
struct ListNode {
  ListNode *next, *prev;
  int value;
};

typedef struct {
  ListNode *head, *tail;
  int len;
} List;

void list_init(List *l);
void list_clear(List *l);
void list_push_back(List *l, int value);
void list_push_front(List *l, int value);

// The node at a position, or NULL.
ListNode *list_at(const List *l, int position);

// Inserts before the position; position len appends. False: out of range.
bool list_insert(List *l, int position, int value);
bool list_remove_at(List *l, int position);

// Removes every element of the value and says how many there were.
int list_remove_value(List *l, int value);

// The position of the first such element from `start` on, or -1.
int list_find(const List *l, int value, int start);

void list_reverse(List *l);
void list_sort(List *l); // stable, ascending

// Drops elements equal to the one before them; says how many.
int list_unique(List *l);

// Moves the first n elements to the end (n < 0: the last -n to the front).
void list_rotate(List *l, int n);

// Cuts the list in two: the elements from the position on go to `rest`.
bool list_split(List *l, int position, List *rest);

// Merges two ascending lists into `l`, equal elements of `l` first; `other`
// is empty afterwards.
void list_merge(List *l, List *other);

// NULL, or what is wrong with the links.
const char *list_check(const List *l);

int list_live(void); // nodes allocated and not freed

#endif

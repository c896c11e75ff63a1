static int get_width(const Item *item) {
  if (!item)
    return -1;
  return item->width;
}

static int get_height(const Item *item) {
  if (!item)
    return -1;
  return item->height;
}

static int get_depth(const Item *item) {
  if (!item)
    return -1;
  return item->depth;
}

static int get_weight(const Item *item) {
  if (!item)
    return -1;
  return item->weight;
}

static int get_price(const Item *item) {
  if (!item)
    return -1;
  return item->price;
}

static int get_stock(const Item *item) {
  if (!item)
    return -1;
  return item->stock;
}


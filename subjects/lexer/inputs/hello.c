int main(void) {
  print("hello, world\n");
  return 0;
}

// one
int x; // two
//
/// three // four

"never ends
int x;
"again\
"ok"




int a;



int b;

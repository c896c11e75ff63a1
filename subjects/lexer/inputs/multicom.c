/* first
   second
   third */ int y;
/*
*/ z

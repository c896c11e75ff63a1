@ # $ ` \ int @x;

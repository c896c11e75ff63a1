switch (c) {
case 'a': return 1;
case '\n': /* newline */ line++;
default: break;
}

"" "a" "hello" "with space" "tab\t" "nl\n" "q\"q" "b\\"
